/// The stored response of a request, and the cache's decision about it.
public struct CachedChainResponse<Value: Sendable>: Sendable {
    /// The decision and its reason.
    public let report: CacheReport
    /// The stored response, even if it is stale or belongs to an older version. `nil` if none is stored, or if it
    /// cannot be decoded.
    public let response: Response<Value>?

    package var decision: CacheDecision { report.decision }
}

extension Agent {
    /// Returns the stored response of a request and whether it would be used. Sends nothing.
    ///
    /// - Throws: ``NetError/Code/usage`` if caching is off for the request. An invalid request throws the same errors
    ///   as when it is sent.
    public func cached<Call: RequestConvertible>(
        _ call: Call
    ) async throws(NetError) -> CachedChainResponse<Call.Value> {
        let request = try await call.callRequest()
        let (caching, evaluator) = try await evaluator(of: request)
        let lookup = await evaluator.lookup(at: caching.now)
        let report = lookup.report(.none)
        guard let stored = lookup.stored else { return CachedChainResponse(report: report, response: nil) }
        var received = evaluator.response(of: stored, at: caching.now)
        received.cacheAnnotation = CacheAnnotation(report)
        let response = try? await decode(received, by: request.decoding)
        return CachedChainResponse(report: report, response: response)
    }

    /// Stores a response for a request, as if the server had sent it for that request (YTKNetwork's shared cache).
    ///
    /// Throws the errors of the store.
    /// - Returns: false if the policy does not allow storing the response.
    @discardableResult
    public func store(
        _ response: Response<some Sendable>, for call: some RequestConvertible
    ) async throws(NetError) -> Bool {
        let request = try await call.callRequest()
        let (caching, evaluator) = try await evaluator(of: request)
        let now = caching.now
        let lookup = await evaluator.lookup(at: now)
        var received = Response<Bytes>(status: response.status, headers: response.headers, bytes: response.bytes)
        received.httpVersion = response.httpVersion
        var hop = HopMetrics()
        hop.url = response.url
        received.metrics = Metrics([hop])
        guard lookup.key != nil, let storable = evaluator.storable(for: received, sent: now, received: now) else {
            return false
        }
        try await evaluator.put(storable, response.bytes, after: lookup)
        return true
    }

    /// Removes the stored response of a request. Returns false if there was none.
    @discardableResult
    public func removeCached(_ call: some RequestConvertible) async throws(NetError) -> Bool {
        let request = try await call.callRequest()
        let (caching, evaluator) = try await evaluator(of: request)
        let lookup = await evaluator.lookup(at: caching.now)
        guard let key = lookup.key else { return false }
        return try await caching.store(for: evaluator.request).remove(key)
    }

    /// Fetches a response and stores it for later requests, even if one is stored already.
    public func warm(_ call: some RequestConvertible) async throws(NetError) {
        var request = try await call.callRequest()
        switch try rules(of: request).renewing {
        case .off, .inherited, .mode, .reload:
            throw NetError(.usage, "the cache policy of the request is off or does not apply to it (Request.caching)")
        case .application(var policy):
            policy.writesAsynchronously = false
            request.caching = .application(policy)
        case .http(var policy):
            policy.writesAsynchronously = false
            request.caching = .http(policy)
        }
        _ = try await send(request)
    }

    /// Checks and decodes the response. If that succeeds, the cache stores it, if it waits for that.
    ///
    /// - Returns: the decoded response, and the response for observers.
    func decodedAndStored<Value>(
        _ received: Response<Bytes>, by request: Request<Value>
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        guard let annotation = received.cacheAnnotation, let store = annotation.store else {
            return (try await checkedAndDecoded(received, by: request), received)
        }
        // The annotation's `store` closure refers to the observers. An observer that keeps the response must not get
        // that closure, because it would create a reference cycle.
        var observed = received
        observed.cacheAnnotation = CacheAnnotation(annotation.report)
        var response = try await checkedAndDecoded(observed, by: request)
        if await !store() {
            var report = annotation.report
            report.isStorable = false
            response.cacheAnnotation = CacheAnnotation(report)
            observed.cacheAnnotation = response.cacheAnnotation
        }
        return (response, observed)
    }

    /// Checks a response that is not decoded. If it is accepted, the cache stores it, if it waits for that.
    func checkedAndStored(
        _ chainResponse: ChainResponse, by request: Request<Bytes>
    ) async throws(NetError) -> ChainResponse {
        if case .stream(let stream) = chainResponse.body {
            return ChainResponse(try await request.checked(stream))
        }
        try request.checkHead(chainResponse.response, types: nil)
        guard case .bytes(let bytes) = chainResponse.body else { return chainResponse }
        var received = chainResponse.response
        try request.checkBody(bytes, of: received)
        guard let annotation = received.cacheAnnotation, let store = annotation.store else { return chainResponse }
        var report = annotation.report
        if await !store() {
            report.isStorable = false
        }
        received.cacheAnnotation = CacheAnnotation(report)
        return ChainResponse(received)
    }

    // MARK: Choosing the cache

    /// Returns the cache rules of the request, or those of the ``Caching`` interceptor if the request has none.
    func rules(of request: Request<some Sendable>) throws(NetError) -> CacheRules {
        let caching = try caching(for: request)
        return request.cacheRules(over: caching.rules)
    }

    private func caching(for request: Request<some Sendable>) throws(NetError) -> Caching {
        let ofService = request.service?.configuration.interceptors ?? []
        for interceptor in configuration.interceptors + ofService + request.interceptors {
            if let caching = interceptor as? Caching {
                return caching
            }
        }
        throw NetError(.usage, "the agent has no Caching interceptor: add one to Agent.Configuration.interceptors")
    }

    private func evaluator(
        of request: Request<some Sendable>
    ) async throws(NetError) -> (Caching, any CacheEvaluator) {
        let caching = try caching(for: request)
        let call = try await prepared(Call(request.erased))
        switch caching.evaluator(for: identified(call), callRunner.cacheContext) {
        case nil:
            throw NetError(.usage, "the cache policy of the request is off or does not apply to it (Request.caching)")
        case .application(let evaluator)?: return (caching, evaluator)
        case .http(let evaluator)?: return (caching, evaluator)
        }
    }

    /// Returns the cache key of a request as this agent would send it.
    ///
    /// The URL is joined to the base URL. The agent's fields and parameters are included, and the changes of
    /// interceptors that implement ``Interceptor/identified(_:)``. Parameters that ``Request/cacheKeyParameters``
    /// excludes are left out.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - names: the names of the fields that are part of the key; other fields are ignored.
    ///   - scope: the owner of the response, such as a user's number. If empty, the response is shared.
    /// - Throws:
    ///   - the errors of ``send(_:)-(Request<Value>)`` for an invalid URL
    ///   - ``NetError/Code/unsupported`` for a body that is created or read while it is sent, because its bytes are not
    ///     known before
    ///   - ``NetError/Code/usage`` if a closure computes parameters or fields at each start. Use
    ///     ``cacheKey(forStarting:headers:scope:)`` for such a request.
    public func cacheKey(
        for request: Request<some Sendable>, headers names: [String] = ["Accept", "Accept-Language", "Content-Type"],
        scope: String = ""
    ) throws(NetError) -> CacheKey {
        try identified(preparedWithoutClosures(Call(request.erased))).cacheKey(headers: names, scope: scope)
    }

    /// Returns the cache key of an endpoint. Creates its request, and calls the closures that compute parameters and
    /// fields.
    ///
    /// Throws the same errors as ``cacheKey(for:headers:scope:)``, and those of the closures.
    public func cacheKey(
        forStarting endpoint: some RequestConvertible,
        headers names: [String] = ["Accept", "Accept-Language", "Content-Type"], scope: String = ""
    ) async throws(NetError) -> CacheKey {
        let call = Call(try await endpoint.callRequest().erased)
        return try identified(await prepared(call)).cacheKey(headers: names, scope: scope)
    }

    /// Returns the call with the changes of interceptors that its cache key contains.
    private func identified(_ call: Call) -> Call { chain(for: call.request).identified(call) }
}
