/// Runs tasks on the engine's event loop thread, for callers that choose it: the thread switch is the largest cost of
/// an awaited request. A job that blocks stalls every transfer; jobs are never dropped.
final class LoopExecutor: TaskExecutor {
    private let engine: Engine
    private let client: LoopClient

    init(engine: Engine, client: LoopClient) {
        self.engine = engine
        self.client = client
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // A queued job retains its executor, and so its engine. But once queued it may run and end, and the reference
        // that the runtime lends to this call ends with it.
        let kept = unsafe Unmanaged.passRetained(self)
        defer { unsafe kept.release() }
        if client.enqueue(UnownedJob(job), on: self), !engine.wake() {
            for orphan in client.takeQueued() {
                globalConcurrentExecutor.enqueue(orphan)
            }
        }
    }
}
