/// One call by the server's caching rules. It returns stored responses for GET and HEAD, and invalidates stored
/// responses after methods that are not safe.
struct HTTPCachedCall: Sendable {
    let evaluator: HTTPCacheEvaluator
    let caching: Caching
    let call: Call
    let next: Next

    var cachedCall: CachedCall<HTTPCacheEvaluator> {
        CachedCall(evaluator: evaluator, caching: caching, call: call, next: next)
    }
    var request: Request<Bytes> { evaluator.request }

    func response() async throws(NetError) -> ChainResponse {
        if evaluator.mode == .cacheOnly {
            return try await storedOnly()
        }
        if evaluator.isChanging {
            return try await changing()
        }
        guard request.method == .get || request.method == .head else { return try await next(call) }
        if evaluator.decisionWithoutStored.isGatewayTimeout {
            let lookup = await evaluator.lookup(at: caching.now)
            return stored(lookup) ?? gatewayTimeout(lookup)
        }
        if request.method == .head {
            return try await respondToHead()
        }
        return request.hasPreconditions ? try await conditional() : try await cachedCall.response()
    }

    /// Returns the response to a request with only-if-cached if no stored response is usable (RFC 9111, 5.2.1.7).
    private func gatewayTimeout(_ lookup: CacheLookup) -> ChainResponse {
        var response = Response<Bytes>(status: 504)
        response.source = .cache
        response.cacheAnnotation = CacheAnnotation(lookup.report(.none))
        cachedCall.report(response)
        return ChainResponse(response)
    }

    private func storedOnly() async throws(NetError) -> ChainResponse {
        let lookup = await evaluator.lookup(at: caching.now)
        guard let chainResponse = stored(lookup) else { throw cachedCall.missed(lookup) }
        return chainResponse
    }

    /// Returns the stored response, or the part of it that the request asks for. Returns `nil` if the request has to be
    /// sent.
    private func stored(_ lookup: CacheLookup) -> ChainResponse? {
        guard lookup.decision.isUse, let cachedResponse = lookup.stored else { return nil }
        var response = evaluator.response(of: cachedResponse, at: caching.now)
        switch lookup.form {
        case .whole: break
        case .head:
            response.bytes = []
            response.value = []
        case .notModified: response = response.notModified
        case .part(let range): response = response.part(range)
        }
        return cachedCall.hit(lookup, response)
    }

    // MARK: Using the stored response

    /// Returns the stored response if it is usable and the mode does not prefer the network; otherwise `nil`.
    private func preferredStored(_ lookup: CacheLookup) -> ChainResponse? {
        guard ![.networkElseCache, .cacheThenNetwork].contains(evaluator.mode), let chainResponse = stored(lookup)
        else { return nil }
        if lookup.decision.reason == .staleWhileRevalidate {
            refresh(lookup)
        }
        return chainResponse
    }

    /// Fetches the whole representation in the background, even if the request is conditional or for a range.
    private func refresh(_ lookup: CacheLookup) {
        var call = call
        call.request.makeUnconditionalGet()
        var request = request
        request.makeUnconditionalGet()
        let evaluator = HTTPCacheEvaluator(
            policy: evaluator.policy, request: request, caching: caching, context: evaluator.context,
            budget: evaluator.budget)
        CachedCall(evaluator: evaluator, caching: caching, call: call, next: next).refresh(lookup)
    }

    /// Returns the stored response if it may be used because the network or the server has failed; otherwise `nil`.
    private func failureReplacement(_ lookup: CacheLookup, after status: Int?) -> ChainResponse? {
        evaluator.replacement(lookup, after: status, at: caching.now).flatMap { stored($0) }
    }

    /// Returns the stored response if it is usable. Otherwise sends the request and returns the result of
    /// `processResponse`.
    private func preferredStored(
        or processResponse: (ChainResponse, CacheLookup, Int64) async -> ChainResponse
    ) async throws(NetError) -> ChainResponse {
        let lookup = await evaluator.lookup(at: caching.now)
        if let chainResponse = preferredStored(lookup) {
            return chainResponse
        }
        let sent = caching.now
        let chainResponse: ChainResponse
        do throws(NetError) {
            chainResponse = try await next(call)
        } catch {
            guard error.isFailureToRespond, let old = failureReplacement(lookup, after: nil) else { throw error }
            return old
        }
        if let old = failureReplacement(lookup, after: chainResponse.status) {
            chainResponse.discard()
            return old
        }
        return await processResponse(chainResponse, lookup, sent)
    }

    private func respondToHead() async throws(NetError) -> ChainResponse {
        try await preferredStored { chainResponse, lookup, sent in
            if chainResponse.status == 200, lookup.isOwn, let cachedResponse = lookup.stored {
                // If status, length or validators differ, the stored response is obsolete (RFC 9111, 4.3.5).
                if cachedResponse.storedResponse.isSameVersion(asHead: 200, chainResponse.headers) {
                    await freshen(cachedResponse, by: chainResponse, lookup, sent: sent)
                } else {
                    await evaluator.invalidate(request.url)
                }
            }
            return await cachedCall.storing(chainResponse, lookup, sent: sent)
        }
    }

    private func freshen(
        _ cachedResponse: CachedResponse, by chainResponse: ChainResponse, _ lookup: CacheLookup, sent: Int64
    )
        async
    {
        guard cachedCall.matchesKey(chainResponse) else { return }
        let fresh = evaluator.freshened(
            cachedResponse.storedResponse, by: chainResponse.headers, sent: sent, received: caching.now)
        try? await evaluator.replace(cachedResponse, by: fresh, after: lookup)
    }

    // MARK: The caller's own conditions and ranges

    private func conditional() async throws(NetError) -> ChainResponse {
        try await preferredStored { chainResponse, lookup, sent in
            if request.headers.hasAny(["Range", "If-Match", "If-Unmodified-Since", "If-Range"]) {
                return chainResponse
            }
            if chainResponse.status == 304, lookup.isOwn, let cachedResponse = lookup.stored,
                evaluator.rules.isConfirmed(cachedResponse.storedResponse, byOwn: chainResponse.headers)
            {
                await freshen(cachedResponse, by: chainResponse, lookup, sent: sent)
            }
            return await cachedCall.storing(chainResponse, lookup, sent: sent)
        }
    }
}

extension Response where Value == Bytes {
    /// Returns a 206 response with a range of this response's body.
    fileprivate func part(_ range: Range<Int>) -> Response {
        var part = self
        part.status = 206
        part.bytes = Bytes(bytes.withSpan { span in range.map { span[$0] } })
        part.value = part.bytes
        part.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
        part.headers["Content-Length"] = String(range.count)
        return part
    }

    /// The 304 response for this response (RFC 9110, 15.4.5).
    fileprivate var notModified: Response {
        var head = self
        head.status = 304
        head.bytes = []
        head.value = []
        head.headers = headers.notModified
        return head
    }
}

extension HTTPCachedCall {
    /// Sends a request whose method is not safe, and invalidates the stored responses that it affects (RFC 9111, 4.4).
    func changing() async throws(NetError) -> ChainResponse {
        var lookup = await evaluator.lookup(at: caching.now)
        let sent = caching.now
        let chainResponse: ChainResponse
        do throws(NetError) {
            chainResponse = try await next(call)
        } catch {
            // If the error occurred after the response head, the status may show that the server changed the resource.
            let status = error.response?.status ?? error.metrics.last?.status ?? 0
            await invalidate(status, error.response?.headers ?? [:], error.metrics)
            throw error
        }
        await invalidate(chainResponse.status, chainResponse.headers, chainResponse.metrics)
        guard request.method == .post, (200..<400).contains(chainResponse.status) else { return chainResponse }
        // The response describes the state after the invalidation, so it may be stored.
        lookup.moment = caching.changes.begin()
        return await cachedCall.storing(chainResponse, lookup, sent: sent)
    }

    private func invalidate(_ status: Int, _ headers: Headers, _ hops: Metrics) async {
        for url in request.changedURLs(status, headers, hops) {
            await evaluator.invalidate(url)
        }
    }
}

extension Request {
    /// Returns the URLs of the resources that a request has changed. These are the URLs of the hops with a successful
    /// response, and the same-origin URLs in Location and Content-Location.
    ///
    /// - Parameters:
    ///   - status: the status of the last response; 0 if there was none.
    ///   - headers: the fields of the last response.
    ///   - hops: the hops of the transfer. If it is empty, the request's URL counts as the only hop.
    fileprivate func changedURLs(_ status: Int, _ headers: Headers, _ hops: Metrics) -> [String] {
        var (requestedURL, method) = (url, method)
        var urls: [String] = []
        for (hop, next) in zip(hops, hops.dropFirst()) {
            // `next.url` comes from the Location field of this hop.
            urls += HTTPCacheRules.invalidatedURLs(
                method, requestedURL, status: hop.status, ["Location": next.url])
            method = method.afterRedirect(hop.status)
            requestedURL = next.url
        }
        return urls + HTTPCacheRules.invalidatedURLs(method, requestedURL, status: status, headers)
    }
}
