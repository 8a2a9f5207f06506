/// One call that uses the cache.
struct CachedCall<Evaluator: CacheEvaluator>: Sendable {
    let evaluator: Evaluator
    let caching: Caching
    let call: Call
    let next: Next

    /// Returns the response from the cache or the network, as the cache mode requires.
    func response() async throws(NetError) -> ChainResponse {
        let lookup = await evaluator.lookup(at: caching.now)
        switch evaluator.mode {
        case .cacheElseNetwork, .staleWhileRevalidate, .staleIfError:
            return lookup.decision.isUse ? useStored(lookup) : try await fetched(lookup)
        case .networkElseCache, .cacheThenNetwork:
            return try await fetched(lookup.fetching(.networkFirst))
        case .cacheOnly:
            if lookup.decision.isUse {
                return hit(lookup)
            }
            throw missed(lookup)
        case .nativeLoad:
            guard lookup.isOwn else { return try await fetched(lookup) }
            refresh(lookup)
            return hit(lookup.using(.lastKnown))
        }
    }

    // MARK: From the cache

    private func useStored(_ lookup: CacheLookup) -> ChainResponse {
        if lookup.decision.reason == .staleWhileRevalidate {
            refresh(lookup)
        }
        return hit(lookup)
    }

    func hit(_ lookup: CacheLookup) -> ChainResponse {
        guard let cachedResponse = lookup.stored else { return ChainResponse(Response(status: 504)) }
        return hit(lookup, evaluator.response(of: cachedResponse, at: caching.now))
    }

    /// Returns the stored response.
    func hit(_ lookup: CacheLookup, _ stored: Response<Bytes>) -> ChainResponse {
        let isFresh = lookup.age.map { age in lookup.lifetime.map { age <= $0 } ?? false } ?? false
        var response = stored
        response.cacheAnnotation = CacheAnnotation(lookup.report(isFresh ? .hit : .staleHit))
        report(response)
        return ChainResponse(response)
    }

    func missed(_ lookup: CacheLookup) -> NetError {
        var response = Response<Bytes>(status: 0)
        response.cacheAnnotation = CacheAnnotation(lookup.report(.none))
        report(response)
        return NetError(
            .notCached,
            "not in the cache (cache-only request): no usable stored response (\(lookup.decision.reason))"
                + " for \(call.request.method) \(call.request.url.shownPath)", response: response)
    }

    func report(_ response: Response<Bytes>) {
        if let watch = call.watch, let report = response.cache {
            watch.report(.cacheReported(report), of: call.request)
        }
    }

    // MARK: From the network

    /// Returns the response from the network. If the network or the server fails, returns the stored response if that
    /// is allowed.
    func fetched(_ lookup: CacheLookup) async throws(NetError) -> ChainResponse {
        let chainResponse: ChainResponse
        do throws(NetError) {
            chainResponse = try await fetchOrRevalidate(lookup)
        } catch {
            guard error.isFailureToRespond,
                let stale = evaluator.replacement(lookup, after: nil, at: caching.now)
            else { throw error }
            return hit(stale)
        }
        if let stale = evaluator.replacement(lookup, after: chainResponse.status, at: caching.now) {
            chainResponse.discard()
            return hit(stale)
        }
        return chainResponse
    }

    /// Sends the request. If the stored response has to be revalidated and has a validator, the request is conditional.
    private func fetchOrRevalidate(_ lookup: CacheLookup) async throws(NetError) -> ChainResponse {
        guard case .revalidate = lookup.decision, let cachedResponse = lookup.stored,
            let conditional = conditional(cachedResponse)
        else {
            return try await fetch(lookup, call)
        }
        let sent = caching.now
        let chainResponse = try await next(conditional)
        guard chainResponse.status == 304 else { return await storing(chainResponse, lookup, sent: sent) }
        chainResponse.discard()
        guard cachedResponse.storedResponse.isConfirmed(by: chainResponse.headers) else {
            return try await fetch(lookup, call)
        }
        return await refreshed(cachedResponse, by: chainResponse, lookup, sent: sent)
    }

    func fetch(_ lookup: CacheLookup, _ call: Call) async throws(NetError) -> ChainResponse {
        let sent = caching.now
        return await storing(try await next(call), lookup, sent: sent)
    }

    private func conditional(_ cachedResponse: CachedResponse) -> Call? {
        var call = call
        let conditions = cachedResponse.storedResponse.conditions
        guard !conditions.isEmpty, call.request.canBeConditional, !call.request.hasPreconditions else { return nil }
        for condition in conditions {
            call.request.headers.append(condition)
        }
        // A 304 response has no body that could be checked. A response with a body is checked after the chain.
        call.request.expectation = nil
        return call
    }

    /// Returns the stored response with the updated fields of the server's 304 response.
    private func refreshed(
        _ cachedResponse: CachedResponse, by chainResponse: ChainResponse, _ lookup: CacheLookup, sent: Int64
    ) async -> ChainResponse {
        let received = caching.now
        // The redirects that led to the 304 response may differ from those of the stored response.
        let hosts = call.request.hosts(ofRedirectsIn: chainResponse.metrics)
        let fresh = evaluator.freshened(
            cachedResponse.storedResponse, by: chainResponse.headers, sent: sent, received: received
        )
        .visiting(hosts ?? [])
        let updated = CachedResponse(key: cachedResponse.key, storedResponse: fresh, body: cachedResponse.body)
        let evaluator = evaluator
        if matchesKey(chainResponse), hosts != nil {
            await keep(lookup) {
                () async throws(NetError) in try await evaluator.replace(cachedResponse, by: fresh, after: lookup)
            }
        }
        var response = evaluator.response(of: updated, at: received)
        response.metrics = chainResponse.metrics
        response.cacheAnnotation = CacheAnnotation(lookup.report(.revalidated))
        report(response)
        return ChainResponse(response)
    }

    // MARK: Storing

    /// Returns a response that is stored later: when the caller has accepted it, or at the end of its stream.
    func storing(_ chainResponse: ChainResponse, _ lookup: CacheLookup, sent: Int64) async -> ChainResponse {
        if call.kind == .stream, case .bytes = chainResponse.body {
            return await storing(ChainResponse(ResponseStream(chainResponse.response)), lookup, sent: sent)
        }
        var report = lookup.report(.network)
        let (evaluator, received, isOwn) = (evaluator, caching.now, matchesKey(chainResponse))
        let stored = isOwn ? evaluator.storable(for: chainResponse.response, sent: sent, received: received) : nil
        report.isStorable = stored != nil && !caching.isFailing
        if isOwn, stored == nil || isRefused(chainResponse.status) {
            await removeObsolete(lookup, for: chainResponse.status)
        }
        defer { call.watch?.report(.cacheReported(report), of: call.request) }
        switch chainResponse.body {
        case .bytes(let bytes):
            let response = chainResponse.response
            let store = stored.map { stored -> @Sendable () async -> Bool in
                { await keep(stored, bytes, of: response, after: lookup) }
            }
            var annotated = response
            annotated.cacheAnnotation = CacheAnnotation(report, store: store)
            return ChainResponse(annotated)
        case .stream(var stream):
            if stored != nil {
                let chunks = StoringChunks(stream, upTo: evaluator.maximumBodyBytes) { bytes, ending in
                    await keepStream(bytes, ending, lookup, sent: sent, received: received)
                }
                stream = stream.replaced(by: chunks)
            }
            stream.cacheAnnotation = CacheAnnotation(report)
            return ChainResponse(stream)
        case .file:
            return chainResponse
        }
    }

    /// Returns true if the response may be stored under the key of the lookup. It may not if the URL or the credentials
    /// were changed during the call. It may not either if the server sent a challenge, because the key does not contain
    /// the credentials for it.
    func matchesKey(_ chainResponse: ChainResponse) -> Bool {
        guard evaluator.scope != nil || !chainResponse.cameByChallenge else { return false }
        let now = next.identified(call).request
        return now.url == evaluator.request.url
            && caching.sentCredentials(of: now) == caching.sentCredentials(of: evaluator.request)
    }

    /// Stores a streamed body. Only at its end is it known whether it is complete and valid.
    private func keepStream(
        _ bytes: Bytes, _ ending: Response<Bytes>, _ lookup: CacheLookup, sent: Int64, received: Int64
    ) async {
        guard let stored = evaluator.storable(for: ending, sent: sent, received: received) else {
            return await removeObsolete(lookup, for: ending.status)
        }
        if (try? call.request.checkBody(bytes, of: ending)) != nil {
            _ = await keep(stored, bytes, of: ending, after: lookup)
        }
    }

    /// Stores a response. If that fails, removes an older response that the new one makes obsolete. Otherwise later
    /// requests would get the older one.
    private func keep(
        _ stored: StoredResponse, _ bytes: Bytes, of response: Response<Bytes>, after lookup: CacheLookup
    ) async -> Bool {
        await keep(lookup) { () async throws(NetError) in
            do throws(NetError) {
                try await put(stored, bytes, after: lookup)
            } catch {
                if evaluator.isSuperseded(by: response.status) {
                    try? await evaluator.remove(lookup)
                }
                throw error
            }
        }
    }

    /// Removes the stored response if a new response that is not stored makes it obsolete.
    private func removeObsolete(_ lookup: CacheLookup, for status: Int) async {
        let evaluator = evaluator
        if evaluator.isSuperseded(by: status) {
            await keep(lookup) { () async throws(NetError) in try await evaluator.remove(lookup) }
        }
    }

    /// Returns true if the caller does not accept the status. Then the response is not stored, even if it is storable.
    private func isRefused(_ status: Int) -> Bool {
        !call.request.acceptedStatuses.contains(status)
    }

    /// Changes the store: immediately, or in the background if the policy allows it. The next lookup of the key waits
    /// for a write in the background. A failure is reported to the observers.
    ///
    /// - Returns: true if the write has succeeded. For a write in the background, true if the previous write succeeded.
    @discardableResult
    private func keep(
        _ lookup: CacheLookup, _ put: @escaping @Sendable () async throws(NetError) -> Void
    ) async -> Bool {
        let (watch, request, caching) = (call.watch, call.request, caching)
        let work = { @Sendable () async -> Bool in
            do throws(NetError) {
                try await put()
                caching.recordStoreResult(nil)
                return true
            } catch {
                caching.recordStoreResult(error)
                watch?.report(.notStored(error), of: request)
                return false
            }
        }
        guard evaluator.writesAsynchronously else { return await work() }
        caching.background.begin(writing: lookup.key) { _ = await work() }
        return !caching.isFailing
    }

    // MARK: In the background

    /// Fetches a new response in the background and stores it for the next caller.
    func refresh(_ lookup: CacheLookup) {
        var request = call.request
        request.progress = nil
        var backgroundRequest = Call(request, kind: .send, watch: nil)
        // Interceptors behind the cache that sign or change parameters read the parameters from `origin`.
        backgroundRequest.origin = call.origin
        let backgroundCall = CachedCall(evaluator: evaluator, caching: caching, call: backgroundRequest, next: next)
        let fetchLookup = lookup.fetching(lookup.decision.reason)
        let sentRequest = request
        caching.background.begin(lookup.key) {
            guard let chainResponse = try? await backgroundCall.fetchOrRevalidate(fetchLookup),
                case .bytes(let bytes) = chainResponse.body
            else { return }
            let response = chainResponse.response
            guard (try? sentRequest.checkHead(response, types: nil)) != nil,
                (try? sentRequest.checkBody(bytes, of: response)) != nil
            else { return }
            _ = await response.cacheAnnotation?.store?()
        }
    }
}

extension CacheLookup {
    /// Returns the lookup with the decision to use the stored response.
    func using(_ reason: CacheReason) -> CacheLookup {
        var lookup = self
        lookup.decision = .use(reason)
        return lookup
    }

    /// Returns the lookup with the decision to use the network: to revalidate the stored response if possible,
    /// otherwise to fetch a new one.
    fileprivate func fetching(_ reason: CacheReason) -> CacheLookup {
        var lookup = self
        lookup.decision =
            isOwn && stored?.storedResponse.head.hasValidator == true ? .revalidate(reason) : .fetch(reason)
        return lookup
    }
}

extension NetError {
    /// Whether the network or the server failed. Then a stored response may be used instead.
    var isFailureToRespond: Bool { isRetryable || code == .circuitOpen }
}
