/// The engine as a transport: the task that sends sleeps until the loop thread has its response.
final class EngineTransport: Transport {
    private let engine: Result<Engine, NetError>
    private let client = LoopClient()
    let executor: any TaskExecutor

    /// An engine that cannot be started is told by the first request, so that agents are made without `try`.
    init(_ options: Engine.Options) {
        do throws(NetError) {
            let engine = try Engine(options, client: client)
            self.engine = .success(engine)
            executor = LoopExecutor(engine: engine, client: client)
        } catch {
            engine = .failure(error)
            executor = globalConcurrentExecutor
        }
    }

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        let engine = try engine.get()
        let sink = TransferSink(client: client)
        let outcome = await withTaskCancellationHandler {
            await sink.outcome(of: request, on: engine)
        } onCancel: {
            if let id = sink.cancel() {
                engine.cancel(id)
            }
        }
        return Response(received: try outcome.get())
    }

    func shutdown() async {
        if case .success(let engine) = engine {
            engine.finish()
            await client.waitForEnd()
        }
    }
}
