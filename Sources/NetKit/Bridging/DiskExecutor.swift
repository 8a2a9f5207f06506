internal import Dispatch

/// Threads for what waits for a disk: an actor, the loop and the few threads of the cooperative pool have others to serve
/// meanwhile. Each use makes one of its own; the threads are Dispatch's.
final class DiskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "netkit.disk", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
