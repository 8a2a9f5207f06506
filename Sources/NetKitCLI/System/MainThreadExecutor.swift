import Dispatch
import NetKit

/// Runs nk's tasks on the main thread. The default executor would start several threads and a timer first, which takes
/// longer than a small transfer. The transfers have a thread of their own.
final class MainThreadExecutor: TaskExecutor {
    /// The executor of the current task, for its unstructured tasks. `nil` if nk does not own the process, as in tests.
    @TaskLocal static var current: MainThreadExecutor?

    private let jobs = Lock<[UnownedJob]>([])
    private let queued = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        queued.signal()
    }

    /// Runs an operation, and ends the process with its result as the exit code. The main thread calls it.
    static func run(_ operation: @escaping @Sendable () async -> Int32) -> Never {
        let executor = MainThreadExecutor()
        Task(executorPreference: executor) {
            Terminal.end(await $current.withValue(executor, operation: operation))
        }
        while true {
            executor.queued.wait()
            // One signal may find several jobs. A later signal then finds none.
            for job in executor.jobs.withLock({ jobs in
                defer { jobs = [] }; return jobs
            }) {
                unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
            }
        }
    }
}
