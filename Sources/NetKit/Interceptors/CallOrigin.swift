/// The base of relative URLs.
struct URLBase: Sendable {
    /// `nil` keeps URLs unchanged.
    var url: String?
    var keepsPath: Bool

    /// Returns the content as sent: with its parameters in place and an absolute URL.
    func placing(_ asked: RequestContent, with others: Parameters?) throws(NetError) -> RequestContent {
        var content = asked
        try content.placeParameters(with: others)
        if let url, !(asked.keepsDotSegments && content.hasAbsoluteURL) {
            content.url = try joinURL(content.url, to: url, keepsBasePath: keepsPath)
        }
        return content
    }
}

/// A request before its parameters were moved into the URL or the body. Its call keeps it, so interceptors can still
/// change the parameters.
final class CallOrigin: Sendable {
    let content: KeptContent
    /// Parameters for every request; the request's own override them.
    let others: Parameters?
    let base: URLBase
    /// The resulting URL.
    let placedURL: String

    init(_ content: KeptContent, others: Parameters?, base: URLBase, placedURL: String) {
        self.content = content
        self.others = others
        self.base = base
        self.placedURL = placedURL
    }
}

extension Call {
    /// The request's own parameters, in the URL or the body. Parameters that agent or service add are not included.
    public var parameters: Parameters? { origin.map { $0.content.value.rare?.value.parameters } ?? request.parameters }

    /// All parameters that are sent.
    public var sentParameters: Parameters? {
        guard let parameters else { return origin?.others }
        return parameters.filled(from: origin?.others)
    }

    /// Replaces the request's own parameters.
    ///
    /// - Throws: the errors of sending a request with these parameters. ``NetError/Code/usage`` if an interceptor has
    ///   changed the URL before: interceptors that change parameters must come before those that change the URL.
    public mutating func setParameters(_ parameters: Parameters?) throws(NetError) {
        try place(parameters, with: origin?.others)
    }

    /// Replaces all parameters, including those for every request.
    mutating func setSentParameters(_ change: (Parameters?) async throws(NetError) -> Parameters?)
        async throws(NetError)
    {
        let (own, others) = split(try await change(sentParameters))
        try place(own, with: others)
    }

    private mutating func keepParameters(_ choose: (Parameters) -> Parameters) throws(NetError) {
        guard let sent = sentParameters else { return }
        let (own, others) = split(choose(sent))
        try place(own, with: others)
    }

    /// Splits parameters that replace all others into the request's own and those for every request. They count as the
    /// latter if the request has none, because these have a different position.
    private func split(_ changed: Parameters?) -> (own: Parameters?, others: Parameters?) {
        // Parameters have a null value, which is different from `nil`.
        let nothing = Parameters?.none
        guard let others = origin?.others else { return (changed, nothing) }
        guard let own = parameters else { return (nothing, changed) }
        return (changed, own.hasFields ? nothing : others)
    }

    private mutating func place(_ own: Parameters?, with others: Parameters?) throws(NetError) {
        guard let origin else {
            request.parameters = own
            return
        }
        guard request.url == origin.placedURL else {
            throw NetError(.usage, "the URL was changed before the parameters")
        }
        var content = origin.content.value
        content.rareParts.parameters = own
        let placed = try origin.base.placing(content, with: others)
        let isPlaced = request.isPlaced
        request.url = placed.url
        if isPlaced {
            request.markPlaced()
        }
        if content.makesBodyOfParameters {
            request.body = placed.body
        }
        self.origin = CallOrigin(KeptContent(content), others: others, base: origin.base, placedURL: placed.url)
    }
}

extension Call {
    /// Returns the cache key of the request, with the parameters that ``Request/cacheKeyParameters`` selects.
    ///
    /// - Parameters:
    ///   - names: the names of the fields that select the response; other fields are ignored.
    ///   - scope: the owner of the response, such as a user's number. If empty, the response is shared.
    /// - Throws: the errors of ``setParameters(_:)`` if parameters are selected. ``NetError/Code/unsupported`` for a
    ///   body that is put together or read while it is sent: its bytes are not known before.
    public func cacheKey(
        headers names: [String] = ["Accept", "Accept-Language", "Content-Type"], scope: String = ""
    ) throws(NetError) -> CacheKey {
        let kept = try counted()
        let content = kept.value
        if let body = content.body, body.wholeBytes == nil {
            throw NetError(.unsupported, "a body that is put together or read while it is sent has no cache key")
        }
        let sent = Request<Bytes>(kept, headers: request.headers, decoding: .bytes).sentFields
        let chosen = sent.only(names)
        return try CacheKey(
            method: content.method, url: content.url, headers: Headers(chosen + request.wayFields),
            body: content.body?.bytes, scope: scope)
    }

    /// Returns the request with the parameters that ``Request/cacheKeyParameters`` selects, all in place.
    func counted() throws(NetError) -> KeptContent {
        guard request.hasNotes, let choose = request.cacheKeyParameters else { return try request.placed() }
        var counted = self
        try counted.keepParameters(choose)
        return try counted.request.placed()
    }
}
