internal import CNetCore

/// The transport that sends requests with the C engine. The sending task is suspended until the event loop thread has
/// the response.
final class EngineTransport: WebSocketTransport {
    /// An engine, with the objects that belong to it.
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
        /// The sessions that a reset has replaced, until they have ended.
        var old: [Session] = []
        var isSuspended = false
    }

    private let options: Engine.Options
    private let makeClient: @Sendable () -> LoopClient
    private let sessions: Lock<Sessions>
    private let blocks = BlockPool()

    private var session: Session { sessions.withLock { $0.current } }
    private var engine: Result<Engine, NetError> { session.engine }

    /// An executor that runs jobs on the event loop thread.
    var executor: any TaskExecutor { session.executor }

    /// Creates the transport. If the engine cannot start, this does not throw, so that agents can be created without
    /// `try`; the first request throws the error instead.
    ///
    /// - Parameters:
    ///   - passed: called at each trace point of the engine, for measurements.
    ///   - saveFailed: called when a file, such as the cookie file, could not be saved.
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
        // `Result.get()` is avoided here: its lookup of the type's metadata at run time costs more than the rest.
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

    func openWebSocket(
        _ request: Request<Bytes>, _ options: WebSocket.Options
    ) async throws(NetError) -> WebSocketHandshake {
        try await SocketSink(engine: try session.engine.get(), options: options).open(request)
    }

    /// Refuses further requests, and waits until the current session and all replaced ones have ended.
    func shutdown() async {
        for session in sessions.withLock({ [$0.current] + $0.old }) {
            await end(session)
        }
    }

    /// Shuts the engine down if `isClosed` returns true. The check and a reset cannot overlap, so an engine that was
    /// reopened meanwhile is not shut down.
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

    /// Replaces the engine, and returns when the old engine has ended. The new engine gets the cookies of the old one.
    ///
    /// - Parameters:
    ///   - cancelling: whether the transfers of the old engine are cancelled.
    ///   - changed: called under the lock when the new engine becomes visible; it must not wait.
    func reset(cancelling: Bool, changed: () -> Void) async {
        let newSession = Session(options, makeClient: makeClient)
        if let lines = try? cookieLines(), !lines.isEmpty {
            try? newSession.engine.get().setCookies(lines)
        }
        let (old, isSuspended) = sessions.withLock { sessions in
            let old = sessions.current
            sessions.old.append(old)
            sessions.current = newSession
            changed()
            return (old, sessions.isSuspended)
        }
        if isSuspended {
            try? newSession.engine.get().setSuspended(true)
        }
        if cancelling, let engine = try? old.engine.get() {
            for transfer in engine.transfers() {
                engine.cancel(transfer.id)
            }
        }
        await end(old)
        sessions.withLock { sessions in sessions.old.removeAll { $0 === old } }
    }

    /// Returns the current engine and those that a reset has replaced. Transfer numbers are unique among them, so an
    /// operation on a transfer can be sent to all engines.
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
            engine.resume(id, from: .NC_PAUSE_EXPLICIT)
        }
    }

    func transfers() -> [TransferInfo] {
        engines().flatMap { $0.transfers() }
    }

    func setTrust(_ policy: TrustPolicy) throws(NetError) {
        try engine.get().setTrust(policy)
    }

    func cookieSnapshot() throws(NetError) -> any CookieSnapshot {
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
