/// Runs tasks on the engine's loop thread, for callers that ask for it: the hop between threads is what an awaited
/// request costs most. A job that blocks stalls every transfer; jobs are never dropped.
final class LoopExecutor: TaskExecutor {
    private let engine: Engine
    private let client: LoopClient

    init(engine: Engine, client: LoopClient) {
        self.engine = engine
        self.client = client
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // A queued job keeps its executor, and so its engine, alive; but once it is queued it may run and end, and the
        // reference that the runtime lends to this call ends with it.
        let kept = unsafe Unmanaged.passRetained(self)
        defer { unsafe kept.release() }
        if client.enqueue(UnownedJob(job), on: self), !engine.wake() {
            for orphan in client.takeQueued() {
                globalConcurrentExecutor.enqueue(orphan)
            }
        }
    }
}
