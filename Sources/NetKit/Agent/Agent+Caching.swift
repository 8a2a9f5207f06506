/// The stored response of a request, and the cache's decision about it.
public struct CachedAnswer<Value: Sendable>: Sendable {
    /// The decision and its reason.
    public let report: CacheReport
    /// The stored response, even if it is stale or belongs to an older version. `nil` if none is stored, or if it
    /// cannot be decoded.
    public let response: Response<Value>?

    /// The decision.
    public var decision: CacheDecision { report.decision }
}

extension Agent {
    /// Returns the stored response of a request and whether it would be used. Sends nothing.
    ///
    /// - Throws: ``NetError/Code/usage`` for a request that is not cached, and the errors of a request that cannot be
    ///   sent.
    public func cached<Value>(_ request: Request<Value>) async throws(NetError) -> CachedAnswer<Value> {
        let (caching, side) = try await side(of: request)
        let look = await side.look(at: caching.now)
        let report = look.report(.none)
        guard let piece = look.stored else { return CachedAnswer(report: report, response: nil) }
        var received = side.response(of: piece, at: caching.now)
        received.cacheNote = CacheNote(report)
        let response = try? await decode(received, by: request.decoding)
        return CachedAnswer(report: report, response: response)
    }

    /// Stores a response for a request, as if it were the response to that request (YTKNetwork's shared cache).
    ///
    /// Throws the errors of the store.
    /// - Returns: false if the policy does not allow storing the response.
    @discardableResult
    public func store(
        _ response: Response<some Sendable>, for request: Request<some Sendable>
    ) async throws(NetError) -> Bool {
        let (caching, side) = try await side(of: request)
        let now = caching.now
        let look = await side.look(at: now)
        var received = Response<Bytes>(status: response.status, headers: response.headers, bytes: response.bytes)
        received.httpVersion = response.httpVersion
        var hop = HopMetrics()
        hop.url = response.url
        received.metrics = Metrics([hop])
        guard look.key != nil, let answer = side.answer(for: received, asked: now, received: now) else { return false }
        try await side.put(answer, response.bytes, after: look)
        return true
    }

    /// Removes the stored response of a request. Returns false if there was none.
    @discardableResult
    public func removeCached(_ request: Request<some Sendable>) async throws(NetError) -> Bool {
        let (caching, side) = try await side(of: request)
        let look = await side.look(at: caching.now)
        guard let key = look.key else { return false }
        return try await caching.store(for: side.request).remove(key)
    }

    /// Fetches a response and stores it for later requests, even if one is stored already.
    public func warm(_ request: Request<some Sendable>) async throws(NetError) {
        var request = request
        switch try rules(of: request).renewing {
        case .off: throw NetError(.usage, "the request is not cached")
        case .application(var policy):
            policy.writesAsynchronously = false
            request.caching = .application(policy)
        case .http(var policy):
            policy.writesAsynchronously = false
            request.caching = .http(policy)
        }
        _ = try await send(request)
    }

    /// Checks and decodes the response, which a cache may then store. The second value is the response for observers.
    func kept<Value>(
        _ received: Response<Bytes>, by request: Request<Value>
    ) async throws(NetError) -> (Response<Value>, Response<Bytes>) {
        guard let note = received.cacheNote, let store = note.store else {
            return (try await accepted(received, by: request), received)
        }
        // The note that stores it knows the observers, and they may keep what they receive.
        var told = received
        told.cacheNote = CacheNote(note.report)
        var response = try await accepted(told, by: request)
        if await !store() {
            var report = note.report
            report.isStorable = false
            response.cacheNote = CacheNote(report)
            told.cacheNote = response.cacheNote
        }
        return (response, told)
    }

    // MARK: Choosing the cache

    /// Returns the cache rules of the request, or those of the cache.
    func rules(of request: Request<some Sendable>) throws(NetError) -> CacheRules {
        let caching = try caching(for: request)
        return request.caching ?? caching.rules
    }

    private func caching(for request: Request<some Sendable>) throws(NetError) -> Caching {
        for interceptor in configuration.interceptors + request.interceptors {
            if let caching = interceptor as? Caching {
                return caching
            }
        }
        throw NetError(.usage, "the agent has no Caching among its interceptors")
    }

    private func side(
        of request: Request<some Sendable>
    ) async throws(NetError) -> (Caching, any CacheSide) {
        let caching = try caching(for: request)
        let call = try await prepared(Call(request.decoded(by: .bytes)))
        switch caching.side(for: chain(for: call.request).identified(call), exchange.cacheContext) {
        case nil: throw NetError(.usage, "the request is not cached")
        case .application(let side)?: return (caching, side)
        case .http(let side)?: return (caching, side)
        }
    }
}
