/// Sends requests. Make as many as you like, each with its own connections; they are independent.
///
///     let agent = Agent(.init(baseURL: "https://api.example.com/v1"))
///     let cities = try await agent.send(Request<[City]>("cities")).value
///
/// Whoever waits for a response keeps the agent; one that is let go closes its connections, and ``shutdown()`` waits
/// until they are. Thread-safe.
public final class Agent: Sendable {
    /// How this agent sends.
    public let configuration: Configuration
    /// Runs tasks on the thread that moves the bytes, for those who prefer it:
    ///
    ///     await withTaskExecutorPreference(agent.executor) { … }
    ///
    /// It saves the change of thread of each request, and asks in return that the task never blocks: while it runs,
    /// no transfer of this agent goes on.
    public let executor: any TaskExecutor

    let transport: any Transport

    /// An agent with an engine of its own.
    ///
    /// Never fails: should the engine not start, the first ``send(_:)`` says so.
    public init(_ configuration: Configuration = Configuration()) {
        let engine = EngineTransport(configuration.engineOptions)
        self.configuration = configuration
        executor = engine.executor
        transport = engine
    }

    /// An agent over another transport, such as a stub.
    public init(_ configuration: Configuration = Configuration(), transport: any Transport) {
        self.configuration = configuration
        self.transport = transport
        executor = globalConcurrentExecutor
    }

    /// Sends a request and decodes its response.
    ///
    /// Throws ``NetError``: what the transport met, a status that the request does not accept, a body that does not
    /// decode; ``NetError/Code/cancelled`` soon after the task is cancelled.
    public func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        let received = try await answer(to: try completed(request, limits: configuration.limits))
        if let accepted = request.acceptedStatuses, !accepted.contains(received.status) {
            throw NetError(unacceptable: received)
        }
        return try await decode(received, by: request.decoding)
    }

    /// The response, whatever its status.
    func answer(to request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        defer { request.progress?(.over) }
        try checkCancellation()
        guard let handler = configuration.challengeHandler else { return try await transport.send(request) }
        var rounds = ChallengeRounds(request, configuration: configuration, handler: handler)
        while true {
            let received = try await transport.send(rounds.request)
            guard try await rounds.mayTryAgain(after: received) else { return received }
            try checkCancellation()
        }
    }

    func checkCancellation() throws(NetError) {
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before it was sent")
        }
    }

    /// Takes no more requests, and returns when the last one has ended and the agent's thread with it.
    public func shutdown() async {
        await transport.shutdown()
    }

    /// The request with everything that the agent adds.
    func completed(_ request: Request<some Sendable>, limits: Limits) throws(NetError) -> Request<Bytes> {
        try completed(request.content, headers: request.headers, limits: limits)
    }

    private func completed(
        _ asked: RequestContent, headers: Headers, limits: Limits
    ) throws(NetError) -> Request<Bytes> {
        var content = asked
        if let base = configuration.baseURL, !(asked.keepsDotSegments && asked.hasAbsoluteURL) {
            content.url = try resolveURL(asked.url, at: base)
        }
        content.limits = asked.limits ?? limits
        if asked.limits == nil, asked.body?.isStreamed == true {
            content.limits?.total = configuration.streamLimits.total
        }
        content.redirects = asked.redirects ?? configuration.redirects
        var headers = headers.filled(from: configuration.headers)
        if asked.expectsContinue, headers["Expect"] == nil {
            headers["Expect"] = "100-continue"
        }
        return Request<Bytes>(KeptContent(content), headers: headers, decoding: .bytes)
    }
}

extension RequestContent {
    fileprivate var hasAbsoluteURL: Bool {
        guard let end = url.firstRange(of: "://") else { return false }
        return ["http", "https"].contains { String(url[..<end.lowerBound]).isEqualIgnoringASCIICase(to: $0) }
    }
}

extension NetError {
    /// A status that was not asked for.
    init(unacceptable received: Response<Bytes>) {
        self.init(
            .unacceptableStatus, "status \(received.status) from \(received.place)", nativeCode: received.status,
            response: received)
    }
}

extension TransferProgress {
    /// The last word.
    static var over: TransferProgress {
        var progress = TransferProgress()
        progress.isOver = true
        return progress
    }
}
