internal import CNetCore

/// The engine as a transport: the task that sends sleeps until the loop thread has its response.
final class EngineTransport: Transport {
    private let engine: Result<Engine, NetError>
    private let client = LoopClient()
    private let blocks = BlockPool()
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
        // Result.get() looks its own type up each time, which costs more than what it does.
        guard case .success(let engine) = engine else { throw startError }
        let sink = TransferSink(client: client)
        let outcome = await withTaskCancellationHandler {
            await sink.outcome(of: request, on: engine)
        } onCancel: {
            if let id = sink.cancel() {
                engine.cancel(id)
            }
        }
        switch outcome {
        case .success(let received): return Response(received: received)
        case .failure(let error): throw error
        }
    }

    private var startError: NetError {
        if case .failure(let error) = engine { error } else { NetError(.internal, "the engine runs") }
    }

    func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        let sink = StreamSink(request, engine: try engine.get(), client: client, blocks: blocks)
        return try await sink.open(request)
    }

    func shutdown() async {
        if case .success(let engine) = engine {
            engine.finish()
            await client.waitForEnd()
        }
    }
}

extension EngineTransport: TransferControl {
    func setSuspended(_ isSuspended: Bool) {
        try? engine.get().setSuspended(isSuspended)
    }

    func setPriority(_ priority: Priority, of id: UInt64) {
        try? engine.get().setPriority(priority, of: id)
    }

    func pause(_ id: UInt64) {
        try? engine.get().pause(id)
    }

    func resume(_ id: UInt64) {
        try? engine.get().resume(id, from: .NC_REST_PAUSED)
    }

    func transfers() -> [TransferInfo] {
        (try? engine.get().transfers()) ?? []
    }

    /// The core waits for the loop there, which no thread of the cooperative pool should.
    @concurrent
    func cookies() async throws(NetError) -> [Cookie] {
        let engine = try engine.get()
        let lines = await withTaskExecutorPreference(executor) { await Self.lines(of: engine) }
        return try lines.get().split(separator: "\n").compactMap { Cookie(netscapeLine: $0) }
    }

    @concurrent
    private static func lines(of engine: Engine) async -> Result<String, NetError> {
        do throws(NetError) {
            return .success(try engine.copyCookies())
        } catch {
            return .failure(error)
        }
    }

    func setCookies(_ cookies: [Cookie]) throws(NetError) {
        // An empty text would remove them all.
        if cookies.isEmpty {
            return
        }
        var lines = ""
        for cookie in cookies {
            lines += try cookie.netscapeLine + "\n"
        }
        try engine.get().setCookies(lines)
    }

    func clearCookies() throws(NetError) {
        try engine.get().setCookies("")
    }
}
