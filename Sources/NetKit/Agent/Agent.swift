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
    public var executor: any TaskExecutor { engine?.executor ?? globalConcurrentExecutor }

    let transport: any Transport
    // Nil over another transport.
    let engine: EngineTransport?
    let exchange: Exchange
    let chain: CallChain
    let registry: RunRegistry
    /// What is under way.
    let flights = Flights()
    /// Who reads the agent's events.
    let hub: EventHub
    let connectivity: Connectivity
    /// The configuration's, and the interceptors that watch too.
    let observers: [any Observer]
    /// The interceptors that are asked before a call ends.
    let endings: [any CallEnding]
    // Neither interceptors nor observers, and nothing to add: only a request's own can ask for more.
    let hasBareCalls: Bool
    let addsToRequests: Bool
    /// The configuration's fields, with User-Agent and Accept-Language.
    let defaultHeaders: Headers
    /// The origins that get them; nil without a base URL.
    private let origins: TrustedOrigins?
    /// The configuration's.
    let limits: KeptLimits
    let streamLimits: KeptLimits

    /// An agent with an engine of its own.
    ///
    /// Never fails: should the engine not start, the first `send(_:)` says so.
    public convenience init(_ configuration: Configuration = Configuration()) {
        let hub = EventHub()
        let engine = EngineTransport(configuration.engineOptions, saveFailed: { hub.tell(.saveFailed($0)) })
        self.init(configuration, engine, engine: engine, hub: hub)
    }

    /// An agent over another transport, such as a stub.
    public convenience init(_ configuration: Configuration = Configuration(), transport: any Transport) {
        self.init(configuration, transport, engine: nil, hub: EventHub())
    }

    private init(
        _ configuration: Configuration, _ transport: any Transport, engine: EngineTransport?, hub: EventHub
    ) {
        self.configuration = configuration
        self.hub = hub
        defaultHeaders = configuration.defaultHeaders
        origins = configuration.baseURL.nonEmpty.map { base in
            TrustedOrigins([base, configuration.cdnURL] + configuration.trustedOrigins)
        }
        limits = KeptLimits(configuration.limits)
        streamLimits = KeptLimits(configuration.streamLimits)
        self.transport = transport
        self.engine = engine
        registry = RunRegistry(flights)
        exchange = Exchange(transport: transport, configuration: configuration, hub: hub, flights: flights)
        connectivity = Connectivity(
            allowsCellular: configuration.allowsCellular, reachability: configuration.reachability,
            proxy: configuration.proxy)
        chain = CallChain(configuration.interceptors, end: exchange)
        let metrics = configuration.transferHooks.metrics.map { MetricsHook(tell: $0) }
        observers =
            configuration.observers + configuration.interceptors.watching + [metrics].compactMap { $0 }
        endings = configuration.interceptors.ending
        addsToRequests = configuration.addsToRequests
        hasBareCalls =
            configuration.interceptors.isEmpty && configuration.observers.isEmpty && configuration.allowsCellular
            && !addsToRequests && configuration.transferHooks.isEmpty
    }

    deinit {
        hub.finish()
    }

    // The whole way is made anew for values that are no work to decode: a call of it looks up no types (a hit in the
    // cache: 2.6 us, as a generic function 3.1).

    /// Sends a request and decodes its response.
    ///
    /// Throws ``NetError``: what the transport met, a status that the request does not accept, a body that does not
    /// decode; ``NetError/Code/cancelled`` soon after the task is cancelled.
    @_specialize(where Value == Bytes)
    @_specialize(where Value == String)
    @_specialize(where Value == Void)
    public func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try enter(request)
        defer { flights.group.leave() }
        guard isBare(request) else { return try await sendThroughChain(request) }
        let received = try await answer(to: try completedOrOver(request, limits: limits))
        return try await accepted(received, by: request)
    }

    /// The response as the request wants it.
    @inline(__always)
    func accepted<Value>(
        _ received: Response<Bytes>, by request: Request<Value>
    ) async throws(NetError) -> Response<Value> {
        try request.checkHead(received, types: request.decoding.types)
        try request.checkBody(received.bytes, of: received)
        if let instant = request.decoding.instant {
            return instant(received)
        }
        return try await decode(received, by: request.decoding)
    }

    /// The response, whatever its status.
    func answer(to request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        defer { request.progress?(.over) }
        return try await exchange.send(request)
    }

    static func checkCancellation() throws(NetError) {
        if Task.isCancelled {
            throw NetError(.cancelled, "the task was cancelled before it was sent")
        }
    }

    /// Takes no more requests, and returns when the last one has ended and the agent's thread with it.
    public func shutdown() async {
        await transport.shutdown()
    }

    /// The bare request with everything that the agent adds.
    func completed(_ request: Request<some Sendable>, limits: KeptLimits) throws(NetError) -> Request<Bytes> {
        var content = request.content
        try content.placeParameters()
        if configuration.baseURL != nil, !(content.keepsDotSegments && content.hasAbsoluteURL) {
            content.url = try configuration.url(for: content.url)
        }
        let isElsewhere = origins.map { !$0.contains(content.url) } ?? false
        var headers = request.headers.filled(from: isElsewhere ? elsewhereHeaders : defaultHeaders)
        if isElsewhere {
            withhold(.agent, from: &content)
        }
        complete(&content, &headers, limits: limits)
        return Request<Bytes>(KeptContent(content), headers: headers, decoding: .bytes)
    }

    /// What else the agent adds to a request whose URL is absolute.
    func complete(_ placed: inout RequestContent, _ headers: inout Headers, limits: KeptLimits) {
        if placed.keptLimits == nil {
            placed.keptLimits = limits
            if placed.body?.isStreamed == true {
                placed.limits?.total = configuration.streamLimits.total
            }
        }
        if placed.redirects == nil {
            placed.redirects = configuration.redirects
        }
        if let serviceClass = configuration.serviceClass, placed.rare?.value.serviceClass == nil {
            placed.rareParts.serviceClass = serviceClass
        }
        // Without content nothing is waited for (RFC 9110, 10.1.1).
        if placed.expectsContinue, placed.body?.hasContent == true, headers["Expect"] == nil {
            headers["Expect"] = "100-continue"
        }
        if let tell = placed.progress {
            placed.progress = TransferProgress.ending(tell)
        }
    }
}

extension NetError {
    /// A status that was not asked for; a type that was not either is beneath it.
    init(unacceptable received: Response<Bytes>, underlying: NetError? = nil) {
        self.init(
            .unacceptableStatus, "status \(received.status) from \(received.place)", nativeCode: received.status,
            response: received, underlying: underlying)
    }
}
