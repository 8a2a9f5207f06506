/// Where relative URLs begin.
struct URLBase: Sendable {
    /// Nil takes URLs as they are.
    var url: String?
    var keepsPath: Bool

    /// The content as it is sent: parameters in their place, the URL absolute.
    func placing(_ asked: RequestContent, with others: Parameters?) throws(NetError) -> RequestContent {
        var content = asked
        try content.placeParameters(with: others)
        if let url, !(asked.keepsDotSegments && content.hasAbsoluteURL) {
            content.url = try joinURL(content.url, to: url, keepsBasePath: keepsPath)
        }
        return content
    }
}

/// A request before its parameters went into the URL or the body: kept by its call, so that interceptors can still
/// change them.
final class CallOrigin: Sendable {
    let content: KeptContent
    /// Parameters that belong to every request; the request's own win.
    let others: Parameters?
    let base: URLBase
    /// What became of the URL.
    let placedURL: String

    init(_ content: KeptContent, others: Parameters?, base: URLBase, placedURL: String) {
        self.content = content
        self.others = others
        self.base = base
        self.placedURL = placedURL
    }
}

extension Call {
    /// What the request says as parameters, wherever they went; those that its agent or service adds are not among
    /// them.
    public var parameters: Parameters? { origin.map { $0.content.value.rare?.value.parameters } ?? request.parameters }

    /// All parameters that are sent.
    public var sentParameters: Parameters? {
        guard let parameters else { return origin?.others }
        return parameters.filled(from: origin?.others)
    }

    /// Sends other parameters in the place of the request's own.
    ///
    /// Throws what sending the request with them would say of them, and ``NetError/Code/usage`` when an interceptor has
    /// changed the URL before: whoever changes parameters stands in front of whoever changes the URL.
    public mutating func setParameters(_ parameters: Parameters?) throws(NetError) {
        try place(parameters, with: origin?.others)
    }

    /// Sends other parameters in the place of all, those of every request included.
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

    /// Parameters that are to be sent instead of all, as own ones and as those of every request: the latter where the
    /// request has none, since they have a place of their own then.
    private func split(_ changed: Parameters?) -> (own: Parameters?, others: Parameters?) {
        // Parameters have a nil of their own, which is none of these.
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
    /// What the request is, by the parameters that ``Request/cacheKeyParameters`` chooses.
    ///
    /// Throws as ``setParameters(_:)`` where it chooses, and ``NetError/Code/unsupported`` for a body that is put
    /// together or read while it is sent: nobody knows it before.
    /// - Parameters:
    ///   - names: the names of the fields that choose the response; others do not count.
    ///   - scope: whose response it is, such as a user's number. Empty means anybody's.
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

    /// The request by the parameters that ``Request/cacheKeyParameters`` chooses, all in their place.
    func counted() throws(NetError) -> KeptContent {
        guard request.hasNotes, let choose = request.cacheKeyParameters else { return try request.placed() }
        var counted = self
        try counted.keepParameters(choose)
        return try counted.request.placed()
    }
}
