internal import CNetCore

/// The engine as a transport: the sending task is suspended until the event loop thread has its response.
final class EngineTransport: Transport {
    /// An engine with its client and executor.
    private final class Session: Sendable {
        let engine: Result<Engine, NetError>
        let client: LoopClient
        let executor: any TaskExecutor

        init(_ options: Engine.Options, makeClient: () -> LoopClient) {
            client = makeClient()
            do throws(NetError) {
                let engine = try Engine(options, client: client)
                self.engine = .success(engine)
                executor = LoopExecutor(engine: engine, client: client)
            } catch {
                engine = .failure(error)
                executor = globalConcurrentExecutor
            }
        }
    }

    private struct Sessions: Sendable {
        var current: Session
        /// The sessions before a reset, until they have ended.
        var old: [Session] = []
        var isSuspended = false
    }

    private let options: Engine.Options
    private let makeClient: @Sendable () -> LoopClient
    private let sessions: Lock<Sessions>
    private let blocks = BlockPool()

    private var session: Session { sessions.withLock { $0.current } }
    private var engine: Result<Engine, NetError> { session.engine }

    /// Runs jobs on the event loop thread.
    var executor: any TaskExecutor { session.executor }

    /// Creates the transport. The first request throws the error of an engine that cannot start, so agents are created
    /// without `try`.
    ///
    /// - Parameters:
    ///   - passed: called at each trace point of the engine.
    ///   - saveFailed: called for a file that could not be saved.
    init(
        _ options: Engine.Options, passed: (@Sendable () -> Void)? = nil,
        saveFailed: @escaping @Sendable (NetError) -> Void = { _ in }
    ) {
        let makeClient = { @Sendable in LoopClient(passed: passed, saveFailed: saveFailed) }
        self.options = options
        self.makeClient = makeClient
        sessions = Lock(Sessions(current: Session(options, makeClient: makeClient)))
    }

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        // Result.get() looks up its own type each time, which costs more than its work.
        let session = session
        let client = session.client
        guard case .success(let engine) = session.engine else { throw startError }
        if let plan = request.download {
            return Response(received: try await DownloadSink(request, plan: plan, engine: engine).outcome().get())
        }
        let sink = TransferSink(client: client)
        let cancel = { @Sendable in
            if let id = sink.cancel() {
                engine.cancel(id)
            }
        }
        let outcome = await cancelling(cancel) { await sink.outcome(of: request, on: engine) }
        switch outcome {
        case .success(let received): return Response(received: received)
        case .failure(let error): throw error
        }
    }

    private var startError: NetError {
        if case .failure(let error) = engine { error } else { NetError(.internal, "the engine runs") }
    }

    func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        let session = session
        let sink = StreamSink(
            request, engine: try session.engine.get(), client: session.client, blocks: blocks)
        return try await sink.open(request)
    }

    /// Ends the current session, and those before a reset.
    func shutdown() async {
        for session in sessions.withLock({ [$0.current] + $0.old }) {
            await end(session)
        }
    }

    /// Ends the engine unless it was reopened: a reset and this check cannot overlap.
    func shutdown(ifStill isClosed: () -> Bool) async {
        if let session = sessions.withLock({ isClosed() ? $0.current : nil }) {
            await end(session)
        }
    }

    private func end(_ session: Session) async {
        if case .success(let engine) = session.engine {
            engine.finish()
            await session.client.waitForEnd()
        }
    }

    /// Replaces the engine, and returns when the old one has ended.
    ///
    /// - Parameter changed: called before the new engine is visible; it must not wait.
    func reset(cancelling: Bool, changed: () -> Void) async {
        let fresh = Session(options, makeClient: makeClient)
        if let lines = try? cookieLines(), !lines.isEmpty {
            try? fresh.engine.get().setCookies(lines)
        }
        let (old, isSuspended) = sessions.withLock { sessions in
            let old = sessions.current
            sessions.old.append(old)
            sessions.current = fresh
            changed()
            return (old, sessions.isSuspended)
        }
        if isSuspended {
            try? fresh.engine.get().setSuspended(true)
        }
        if cancelling, let engine = try? old.engine.get() {
            for transfer in engine.transfers() {
                engine.cancel(transfer.id)
            }
        }
        await end(old)
        sessions.withLock { sessions in sessions.old.removeAll { $0 === old } }
    }

    /// Returns the current engine and those before a reset. Their numbers are distinct, so a transfer is known to one
    /// only.
    private func engines(_ change: (inout Sessions) -> Void = { _ in }) -> [Engine] {
        sessions.withLock { sessions in
            change(&sessions)
            return (sessions.old + [sessions.current]).compactMap { try? $0.engine.get() }
        }
    }
}

extension EngineTransport: TransferControl {
    func setSuspended(_ isSuspended: Bool) {
        for engine in engines({ $0.isSuspended = isSuspended }) {
            engine.setSuspended(isSuspended)
        }
    }

    func setPriority(_ priority: Priority, of id: UInt64) {
        for engine in engines() {
            engine.setPriority(priority, of: id)
        }
    }

    func cancel(_ id: UInt64) {
        for engine in engines() {
            engine.cancel(id)
        }
    }

    func pause(_ id: UInt64) {
        for engine in engines() {
            engine.pause(id)
        }
    }

    func resume(_ id: UInt64) {
        for engine in engines() {
            engine.resume(id, from: .NC_REST_PAUSED)
        }
    }

    func transfers() -> [TransferInfo] {
        engines().flatMap { $0.transfers() }
    }

    func setTrust(_ policy: TrustPolicy) throws(NetError) {
        try engine.get().setTrust(policy)
    }

    func jarCookies() throws(NetError) -> any JarCookies {
        try engine.get().snapshotCookies()
    }

    func cookies() async throws(NetError) -> [Cookie] {
        try cookieLines().split(separator: UInt8(ascii: "\n")).compactMap {
            Cookie(netscapeLineBytes: Bytes(Array($0)))
        }
    }

    private func cookieLines() throws(NetError) -> [UInt8] {
        try engine.get().copyCookies()
    }

    func setCookies(_ cookies: [Cookie]) throws(NetError) {
        // An empty text would remove all cookies.
        if cookies.isEmpty {
            return
        }
        var lines: [UInt8] = []
        for cookie in cookies {
            lines += Array(try cookie.netscapeLineBytes) + [UInt8(ascii: "\n")]
        }
        try engine.get().setCookies(lines)
    }

    func clearCookies() throws(NetError) {
        try engine.get().setCookies([])
    }
}
