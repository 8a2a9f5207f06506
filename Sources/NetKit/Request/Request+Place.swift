/// The request's own base of its URL, if it is not the agent's or the service's.
private enum PlaceNote: RequestNote {
    struct Place: Sendable, Equatable {
        var baseURL: String?
        var cdnURL: String?
        var usesCDN = false
    }

    static let standard = Place()
}

private enum CompletenessNote: RequestNote {
    static let standard = false
}

/// A URL that already contains, or whose body contains, the additions of agent and service.
private enum PlacementNote: RequestNote {
    static let standard: String? = nil
}

private enum ServersMakingNote: RequestNote {
    static let standard = false
}

extension Request {
    /// The base of a relative URL. If `nil` or empty, the service's or the agent's base applies.
    public var baseURL: String? {
        get { self[PlaceNote.self].baseURL }
        set { self[PlaceNote.self].baseURL = newValue }
    }

    /// The base of a relative URL if ``usesCDN``. If `nil` or empty, the service's or the agent's applies.
    public var cdnURL: String? {
        get { self[PlaceNote.self].cdnURL }
        set { self[PlaceNote.self].cdnURL = newValue }
    }

    /// Whether a relative URL uses the CDN's base. Without one, it uses the base URL.
    public var usesCDN: Bool {
        get { self[PlaceNote.self].usesCDN }
        set { self[PlaceNote.self].usesCDN = newValue }
    }

    /// Whether it is sent unchanged: agent and service add no base URL, URL filters, fields or parameters. Its URL must
    /// be absolute. Limits, redirects, trust and interceptors apply as usual.
    public var isComplete: Bool {
        get { hasNotes && self[CompletenessNote.self] }
        set { self[CompletenessNote.self] = newValue }
    }
}

extension Request {
    /// Returns true if relative URLs of both have the same base, as far as the requests themselves set one.
    func beginsWhere(_ other: Request) -> Bool {
        service === other.service && self[PlaceNote.self] == other[PlaceNote.self]
    }

    /// Whether it has passed through an agent: the parameters of agent and service are in place, and the URL filters
    /// have run. An interceptor may have extended the URL's query since; another URL makes this false.
    var isPlaced: Bool {
        guard hasNotes, let placed = self[PlacementNote.self] else { return false }
        return url == placed || url.hasPrefix(placed + (placed.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"))
    }

    /// Records that it is placed with its current URL, so that sending it again changes nothing.
    mutating func markPlaced() {
        self[PlacementNote.self] = url
    }

    /// Whether a server created the URL of a request that follows an earlier one. Parameters of agent and service in
    /// that URL are not added again.
    var isOfServersMaking: Bool {
        get { hasNotes && self[ServersMakingNote.self] }
        set { self[ServersMakingNote.self] = newValue }
    }

    /// Returns the same request, marked as placed if its URL is that of the download's bytes.
    func resuming(_ token: ResumeToken) -> Request {
        guard url.withoutUserinfo == token.url, parameters == nil else { return self }
        var request = self
        request.markPlaced()
        return request
    }
}

extension Optional where Wrapped == String {
    /// The text, or `nil` if it is empty.
    var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}
