/// One call through the cache.
struct CachedCall<Side: CacheSide>: Sendable {
    let side: Side
    let caching: Caching
    let call: Call
    let next: Next

    /// Returns the response, from cache and network in the order of the mode.
    func answer() async throws(NetError) -> Answer {
        let look = await side.look(at: caching.now)
        switch side.mode {
        case .cacheElseNetwork, .staleWhileRevalidate, .staleIfError:
            return look.decision.isUse ? used(look) : try await asked(look)
        case .networkElseCache, .cacheThenNetwork:
            return try await asked(look.asking(.networkFirst))
        case .cacheOnly:
            if look.decision.isUse {
                return hit(look)
            }
            throw missed(look)
        case .nativeLoad:
            guard look.isOwn else { return try await asked(look) }
            refresh(look)
            return hit(look.using(.lastKnown))
        }
    }

    // MARK: From the cache

    private func used(_ look: CacheLook) -> Answer {
        if look.decision.reason == .staleWhileRevalidate {
            refresh(look)
        }
        return hit(look)
    }

    func hit(_ look: CacheLook) -> Answer {
        guard let piece = look.stored else { return Answer(Response(status: 504)) }
        return hit(look, side.response(of: piece, at: caching.now))
    }

    /// Returns the stored response.
    func hit(_ look: CacheLook, _ stored: Response<Bytes>) -> Answer {
        let isFresh = look.age.map { age in look.lifetime.map { age <= $0 } ?? false } ?? false
        var response = stored
        response.cacheNote = CacheNote(look.report(isFresh ? .hit : .staleHit))
        tell(response)
        return Answer(response)
    }

    func missed(_ look: CacheLook) -> NetError {
        var response = Response<Bytes>(status: 0)
        response.cacheNote = CacheNote(look.report(.none))
        tell(response)
        return NetError(.notCached, "the cache alone was asked, and says: \(look.decision)", response: response)
    }

    func tell(_ response: Response<Bytes>) {
        if let watch = call.watch, let report = response.cache {
            watch.tell(.cacheReported(report), of: call.request)
        }
    }

    // MARK: From the network

    /// Returns the network's response, or the stored one if it may replace a failure.
    func asked(_ look: CacheLook) async throws(NetError) -> Answer {
        let answer: Answer
        do throws(NetError) {
            answer = try await exchanged(look)
        } catch {
            if error.isFailureToAnswer, side.mayStandIn(look, at: caching.now) {
                return hit(look.using(.staleIfError))
            }
            throw error
        }
        if answer.isFailureOfTheServer, side.mode != .networkElseCache, side.mayStandIn(look, at: caching.now) {
            answer.discard()
            return hit(look.using(.staleIfError))
        }
        return answer
    }

    /// Sends the request, conditionally if the stored response has a validator.
    private func exchanged(_ look: CacheLook) async throws(NetError) -> Answer {
        guard case .revalidate = look.decision, let piece = look.stored, let conditional = conditional(piece) else {
            return try await plain(look, call)
        }
        let sent = caching.now
        let answer = try await next(conditional)
        guard answer.status == 304 else { return await storing(answer, look, asked: sent) }
        answer.discard()
        guard HTTPStorage.isAbout(piece.answer.headers, answer.headers) else { return try await plain(look, call) }
        return await refreshed(piece, by: answer, look, asked: sent)
    }

    func plain(_ look: CacheLook, _ call: Call) async throws(NetError) -> Answer {
        let sent = caching.now
        return await storing(try await next(call), look, asked: sent)
    }

    private func conditional(_ piece: StoredPiece) -> Call? {
        var call = call
        let headers = piece.answer.headers
        let (tag, modified) = (headers.first(named: "ETag"), headers.first(named: "Last-Modified"))
        guard tag != nil || modified != nil, call.request.canBeConditional, !call.request.hasPreconditions else {
            return nil
        }
        if let tag {
            call.request.headers.append(tag.renamed("If-None-Match"))
        }
        if let modified {
            call.request.headers.append(modified.renamed("If-Modified-Since"))
        }
        // A 304 has no body and is no JSON. A response with a body is checked after the chain.
        call.request.expectation = nil
        return call
    }

    /// Returns the stored response, updated by the server's 304.
    private func refreshed(
        _ piece: StoredPiece, by answer: Answer, _ look: CacheLook, asked: Int64
    ) async -> Answer {
        let received = caching.now
        // The confirming response may have come over other redirects than the stored one.
        let hosts = call.request.hosts(onTheWayTo: answer.metrics)
        let fresh = side.freshened(piece.answer, by: answer.headers, asked: asked, received: received)
            .visiting(hosts ?? [])
        let kept = StoredPiece(key: piece.key, answer: fresh, body: piece.body)
        let side = side
        if isForItsKey(answer), hosts != nil {
            await keep(look) {
                () async throws(NetError) in try await side.replace(piece, by: fresh, after: look)
            }
        }
        var response = side.response(of: kept, at: received)
        response.metrics = answer.metrics
        response.cacheNote = CacheNote(look.report(.revalidated))
        tell(response)
        return Answer(response)
    }

    // MARK: Storing

    /// Returns the response, which is stored when the caller has accepted it, or has read it to its end.
    func storing(_ answer: Answer, _ look: CacheLook, asked: Int64) async -> Answer {
        if call.kind == .stream, case .bytes = answer.body {
            return await storing(Answer(ResponseStream(answer.response)), look, asked: asked)
        }
        var report = look.report(.network)
        let (side, received, isOwn) = (side, caching.now, isForItsKey(answer))
        let stored = isOwn ? side.answer(for: answer.response, asked: asked, received: received) : nil
        report.isStorable = stored != nil && !caching.isFailing
        if isOwn, stored == nil || isRefused(answer.status) {
            await drop(look, for: answer.response)
        }
        defer { call.watch?.tell(.cacheReported(report), of: call.request) }
        switch answer.body {
        case .bytes(let bytes):
            let response = answer.response
            let store = stored.map { stored -> @Sendable () async -> Bool in
                { await keep(stored, bytes, of: response, after: look) }
            }
            var noted = response
            noted.cacheNote = CacheNote(report, store: store)
            return Answer(noted)
        case .stream(var stream):
            if stored != nil {
                let chunks = StoringChunks(stream, upTo: side.maximumBodyBytes) { bytes, ending in
                    await keepStream(bytes, ending, look, asked: asked, received: received)
                }
                stream = stream.replaced(by: chunks)
            }
            stream.cacheNote = CacheNote(report)
            return Answer(stream)
        case .file:
            return answer
        }
    }

    /// Returns true if the response belongs to its key. It does not if credentials were replaced during the call. The
    /// same holds for credentials of a challenge, which the keys of a policy with a scope do not contain.
    func isForItsKey(_ answer: Answer) -> Bool {
        guard side.scope != nil || !answer.cameByChallenge else { return false }
        let now = next.identified(call).request
        return now.url == side.request.url
            && caching.shownCredentials(of: now) == caching.shownCredentials(of: side.request)
    }

    /// Stores a streamed body; only at its end is it known how it ended, and what it is.
    private func keepStream(
        _ bytes: Bytes, _ ending: Response<Bytes>, _ look: CacheLook, asked: Int64, received: Int64
    ) async {
        guard let stored = side.answer(for: ending, asked: asked, received: received) else {
            return await drop(look, for: ending)
        }
        if (try? call.request.checkBody(bytes, of: ending)) != nil {
            _ = await keep(stored, bytes, of: ending, after: look)
        }
    }

    /// Stores a response. If that fails, an older response that it makes obsolete is removed, because it would hide the
    /// newer one.
    private func keep(
        _ stored: StoredAnswer, _ bytes: Bytes, of response: Response<Bytes>, after look: CacheLook
    ) async -> Bool {
        await keep(look) { () async throws(NetError) in
            do throws(NetError) {
                try await put(stored, bytes, after: look)
            } catch {
                if side.isSuperseded(by: response) {
                    try? await side.remove(look)
                }
                throw error
            }
        }
    }

    /// Removes the stored response if a response that is not stored makes it obsolete.
    private func drop(_ look: CacheLook, for response: Response<Bytes>) async {
        let side = side
        if side.isSuperseded(by: response) {
            await keep(look) { () async throws(NetError) in try await side.remove(look) }
        }
    }

    /// Returns true if the caller does not accept the status: then the response is not stored, even if it is storable.
    private func isRefused(_ status: Int) -> Bool {
        call.request.acceptedStatuses.map { !$0.contains(status) } ?? false
    }

    /// Stores immediately, or after the call: then the next lookup of the key waits for the write. Failures are
    /// reported to observers. Returns true if it is stored, or may be.
    @discardableResult
    private func keep(
        _ look: CacheLook, _ put: @escaping @Sendable () async throws(NetError) -> Void
    ) async -> Bool {
        let (watch, request, caching) = (call.watch, call.request, caching)
        let work = { @Sendable () async -> Bool in
            do throws(NetError) {
                try await put()
                caching.tookEntry(nil)
                return true
            } catch {
                caching.tookEntry(error)
                watch?.tell(.notStored(error), of: request)
                return false
            }
        }
        guard side.writesAsynchronously else { return await work() }
        caching.background.begin(writing: look.key) { _ = await work() }
        return !caching.isFailing
    }

    // MARK: In the background

    /// Fetches a new response for the next caller.
    func refresh(_ look: CacheLook) {
        var request = call.request
        request.progress = nil
        var again = Call(request, kind: .send, watch: nil)
        // Interceptors behind the cache that sign or change parameters read them here.
        again.origin = call.origin
        let quiet = CachedCall(side: side, caching: caching, call: again, next: next)
        let asking = look.asking(look.decision.reason)
        let asked = request
        caching.background.begin(look.key) {
            guard let answer = try? await quiet.exchanged(asking), case .bytes(let bytes) = answer.body else { return }
            let response = answer.response
            guard (try? asked.checkHead(response, types: nil)) != nil,
                (try? asked.checkBody(bytes, of: response)) != nil
            else { return }
            _ = await response.cacheNote?.store?()
        }
    }
}

extension CacheLook {
    /// Returns the lookup with the decision to use the stored response.
    func using(_ reason: CacheReason) -> CacheLook {
        var look = self
        look.decision = .use(reason)
        return look
    }

    /// Returns the lookup with the decision to use the network, conditionally if possible.
    func asking(_ reason: CacheReason) -> CacheLook {
        var look = self
        look.decision = isOwn && stored?.answer.head.hasValidator == true ? .revalidate(reason) : .fetch(reason)
        return look
    }
}

extension Answer {
    /// Whether a stored response may be better (RFC 5861, 4).
    var isFailureOfTheServer: Bool { [500, 502, 503, 504].contains(status) }
}

extension NetError {
    /// Whether the network or the server failed, and not the caller.
    var isFailureToAnswer: Bool { isRetryable || code == .circuitOpen }
}
