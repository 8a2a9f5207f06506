internal import Dispatch

/// An executor for work that waits for a disk, so that actors, the event loop and the cooperative pool do not. Each use
/// creates one; its threads are Dispatch's.
final class DiskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "netkit.disk", attributes: .concurrent)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
