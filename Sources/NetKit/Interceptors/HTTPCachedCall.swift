/// One call by the server's caching rules: the response to a GET, and the effects of other methods.
struct HTTPCachedCall: Sendable {
    let side: HTTPSide
    let caching: Caching
    let call: Call
    let next: Next

    var plain: CachedCall<HTTPSide> { CachedCall(side: side, caching: caching, call: call, next: next) }
    var request: Request<Bytes> { side.request }

    func answer() async throws(NetError) -> Answer {
        if side.mode == .cacheOnly {
            return try await storedAlone()
        }
        if side.isChanging {
            return try await changing()
        }
        guard request.method == .get || request.method == .head else { return try await next(call) }
        if side.control.isOnlyIfCached {
            let look = await side.look(at: caching.now)
            return look.decision.isUse ? whole(look) : gatewayTimeout(look)
        }
        if request.method == .head {
            return try await headed()
        }
        return request.hasPreconditions ? try await conditional() : try await plain.answer()
    }

    /// The response for only-if-cached without a usable one (RFC 9111, 5.2.1.7).
    private func gatewayTimeout(_ look: CacheLook) -> Answer {
        var response = Response<Bytes>(status: 504)
        response.source = .cache
        response.cacheNote = CacheNote(look.report(.none))
        plain.tell(response)
        return Answer(response)
    }

    private func storedAlone() async throws(NetError) -> Answer {
        var look = await side.look(at: caching.now)
        if let answer = stored(look) {
            return answer
        }
        if look.decision.isUse {
            look.decision = .fetch(.uncacheable)
        }
        throw plain.missed(look)
    }

    /// Returns the stored response for the request, or `nil` if the server has to be asked.
    private func stored(_ look: CacheLook) -> Answer? {
        guard look.decision.isUse, let piece = look.stored else { return nil }
        let headers = request.headers
        switch request.method {
        case .head where !request.hasPreconditions: return whole(look)
        case .get where !request.hasPreconditions: return plain.hit(look)
        case .get where ["If-Match", "If-Unmodified-Since", "If-Range"].contains(where: { headers[$0] != nil }):
            return nil
        case .get where headers["Range"] != nil: return part(look, piece)
        case .get:
            let response = side.response(of: piece, at: caching.now)
            // A response that is no success is returned independent of conditions (RFC 9110, 13.2.1).
            let isCurrent = (200..<300).contains(response.status) && headers.isCurrent(response.headers)
            return plain.hit(look, isCurrent ? response.notModified : response)
        default: return nil
        }
    }

    private func whole(_ look: CacheLook) -> Answer {
        guard request.method == .head, let piece = look.stored else { return plain.hit(look) }
        var response = side.response(of: piece, at: caching.now)
        response.bytes = []
        response.value = []
        return plain.hit(look, response)
    }

    // MARK: Using a whole response

    /// Returns the stored response, unless the mode prefers the network.
    private func ready(_ look: CacheLook) -> Answer? {
        guard ![.networkElseCache, .cacheThenNetwork].contains(side.mode), let answer = stored(look) else { return nil }
        if look.decision.reason == .staleWhileRevalidate {
            refresh(look)
        }
        return answer
    }

    /// Fetches the whole representation, because the request was only for a part or conditional.
    private func refresh(_ look: CacheLook) {
        var call = call
        call.request.becomeWhole()
        var request = request
        request.becomeWhole()
        let side = HTTPSide(
            policy: side.policy, request: request, caching: caching, context: side.context,
            budget: side.budget)
        CachedCall(side: side, caching: caching, call: call, next: next).refresh(look)
    }

    /// Returns the stored response if the network or the server failed and it may replace the failure.
    private func standIn(_ look: CacheLook) -> Answer? {
        side.mayStandIn(look, at: caching.now) ? stored(look.using(.staleIfError)) : nil
    }

    /// Returns the stored response if it is usable, otherwise the result of `learn` for the network's response.
    private func ready(
        or learn: (Answer, CacheLook, Int64) async -> Answer
    ) async throws(NetError) -> Answer {
        let look = await side.look(at: caching.now)
        if let answer = ready(look) {
            return answer
        }
        let sent = caching.now
        let answer: Answer
        do throws(NetError) {
            answer = try await next(call)
        } catch {
            guard error.isFailureToAnswer, let answer = standIn(look) else { throw error }
            return answer
        }
        if answer.isFailureOfTheServer, side.mode != .networkElseCache, let old = standIn(look) {
            answer.discard()
            return old
        }
        return await learn(answer, look, sent)
    }

    private func headed() async throws(NetError) -> Answer {
        try await ready { answer, look, sent in
            if answer.status == 200, look.isOwn, let piece = look.stored {
                // Another status, length or version makes the stored response obsolete (RFC 9111, 4.3.5).
                if piece.answer.head.status == 200, piece.answer.headers.isSameVersion(as: answer.headers) {
                    await freshen(piece, by: answer, look, asked: sent)
                } else {
                    await side.forget(request.url)
                }
            }
            return await plain.storing(answer, look, asked: sent)
        }
    }

    private func freshen(_ piece: StoredPiece, by answer: Answer, _ look: CacheLook, asked: Int64) async {
        guard plain.isForItsKey(answer) else { return }
        let fresh = side.freshened(piece.answer, by: answer.headers, asked: asked, received: caching.now)
        try? await side.replace(piece, by: fresh, after: look)
    }

    // MARK: The caller's own conditions and ranges

    private func conditional() async throws(NetError) -> Answer {
        try await ready { answer, look, sent in
            if request.headers.hasAny(["Range", "If-Match", "If-Unmodified-Since", "If-Range"]) {
                return answer
            }
            if answer.status == 304, look.isOwn, let piece = look.stored,
                piece.answer.headers.isMeant(by: answer.headers, answering: request.headers)
            {
                await freshen(piece, by: answer, look, asked: sent)
            }
            return await plain.storing(answer, look, asked: sent)
        }
    }

    /// Returns one range of a body that is stored completely. Other ranges go to the server and are not stored.
    private func part(_ look: CacheLook, _ piece: StoredPiece) -> Answer? {
        guard piece.answer.head.status == 200,
            piece.answer.headers["Content-Encoding"] == nil,
            request.headers["If-None-Match"] == nil, request.headers["If-Modified-Since"] == nil,
            let range = ByteRange.read(request.headers["Range"] ?? "", of: piece.body.count)
        else { return nil }
        return plain.hit(look, side.response(of: piece, at: caching.now).part(range))
    }
}

/// One range of bytes (RFC 9110, 14.1.2).
enum ByteRange {
    /// Returns `nil` for several ranges, for other units, for malformed text, and for a range behind the end.
    static func read(_ field: String, of count: Int) -> Range<Int>? {
        guard field.lowercased().hasPrefix("bytes=") else { return nil }
        let spec = String(field.dropFirst(6)).trimmingBlanks
        guard let dash = spec.firstIndex(of: "-"), !spec.contains(","), count > 0 else { return nil }
        let (first, last) = (String(spec[..<dash]), String(spec[spec.index(after: dash)...]))
        if first.isEmpty {
            guard let suffix = DeltaSeconds.read(last), suffix > 0 else { return nil }
            return max(0, count - Int(min(suffix, Int64(count))))..<count
        }
        guard let start = DeltaSeconds.read(first), start < count else { return nil }
        if last.isEmpty {
            return Int(start)..<count
        }
        guard let end = DeltaSeconds.read(last), end >= start else { return nil }
        return Int(start)..<Int(min(end, Int64(count - 1))) + 1
    }
}

extension Response where Value == Bytes {
    /// Returns a range of it as a 206.
    fileprivate func part(_ range: Range<Int>) -> Response {
        var part = self
        part.status = 206
        part.bytes = Bytes(bytes.withSpan { span in range.map { span[$0] } })
        part.value = part.bytes
        part.headers["Content-Range"] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(bytes.count)"
        part.headers["Content-Length"] = String(range.count)
        return part
    }

    /// The 304 for it (RFC 9110, 15.4.5).
    fileprivate var notModified: Response {
        let kept: Set<String> = [
            "age", "cache-control", "content-location", "date", "etag", "expires", "last-modified", "vary",
        ]
        var head = self
        head.status = 304
        head.bytes = []
        head.value = []
        head.headers = Headers(headers.filter { kept.contains($0.name.lowercased()) })
        return head
    }
}

extension Headers {
    /// Returns true if the caller has the stored version, by If-None-Match, otherwise by If-Modified-Since (RFC 9110,
    /// 13.2.2).
    fileprivate func isCurrent(_ stored: Headers) -> Bool {
        let tags = byteScalars(named: "If-None-Match")
        if !tags.isEmpty {
            guard let tag = stored.byteScalars("ETag") else { return tags.contains("*") }
            return EntityTag.isNamed(tag, in: tags.joined(separator: ", "))
        }
        guard let since = self["If-Modified-Since"].flatMap({ HTTPDate.epochSeconds(ofAnyCase: $0) }),
            let modified = (stored["Last-Modified"] ?? stored["Date"]).flatMap({ HTTPDate.epochSeconds(ofAnyCase: $0) })
        else { return false }
        return modified <= since
    }

    /// Returns true if a 304 to the caller's own condition confirms the stored response. Otherwise it confirms another
    /// version, which the caller has (RFC 9111, 4.3.4).
    fileprivate func isMeant(by notModified: Headers, answering asked: Headers) -> Bool {
        if let tag = notModified.byteScalars("ETag") {
            return byteScalars("ETag").map { EntityTag.isSame($0, tag) } ?? false
        }
        if let modified = notModified.content("Last-Modified") {
            return content("Last-Modified") == modified
        }
        let tags = asked.byteScalars(named: "If-None-Match")
        if let tag = tags.first {
            return tags.count == 1 && byteScalars("ETag").map { EntityTag.isSame($0, tag) } ?? false
        }
        return content("Last-Modified").map { $0 == asked.content("If-Modified-Since") } ?? false
    }

    /// Returns true if no validator or length that both have differs.
    fileprivate func isSameVersion(as other: Headers) -> Bool {
        ["Content-Length", "ETag", "Last-Modified"].allSatisfy { name in
            guard let mine = content(name), let others = other.content(name) else { return true }
            return mine == others
        }
    }
}
