/// Where one request's URL begins, where it is not the agent's or the service's base.
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

/// A URL that holds, or whose body holds, what agent and service add to every request.
private enum PlacementNote: RequestNote {
    static let standard: String? = nil
}

private enum ServersMakingNote: RequestNote {
    static let standard = false
}

extension Request {
    /// Where a relative URL begins; nil or empty takes the service's base, or the agent's.
    public var baseURL: String? {
        get { self[PlaceNote.self].baseURL }
        set { self[PlaceNote.self].baseURL = newValue }
    }

    /// Where a relative URL begins if ``usesCDN``; nil or empty takes the service's, or the agent's.
    public var cdnURL: String? {
        get { self[PlaceNote.self].cdnURL }
        set { self[PlaceNote.self].cdnURL = newValue }
    }

    /// Whether a relative URL begins at a CDN; where none is named, at the base URL all the same.
    public var usesCDN: Bool {
        get { self[PlaceNote.self].usesCDN }
        set { self[PlaceNote.self].usesCDN = newValue }
    }

    /// Whether it is sent as it is: it gets neither base URL nor URL filters, fields nor parameters from an agent or a
    /// service, and its URL has to be absolute. Limits, redirects, trust and interceptors hold for it as for others.
    public var isComplete: Bool {
        get { hasNotes && self[CompletenessNote.self] }
        set { self[CompletenessNote.self] = newValue }
    }
}

extension Request {
    /// Whether a relative URL of both begins at one place, as far as they say it themselves.
    func beginsWhere(_ other: Request) -> Bool {
        service === other.service && self[PlaceNote.self] == other[PlaceNote.self]
    }

    /// Whether it went through an agent already: the parameters of agent and service are in their place, and the URL
    /// filters have been asked. What an interceptor has put behind the URL's query since then does not change that;
    /// another URL does.
    var isPlaced: Bool {
        guard hasNotes, let placed = self[PlacementNote.self] else { return false }
        return url == placed || url.hasPrefix(placed + (placed.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"))
    }

    /// Takes down that it is, as it is now: it may be sent once more, and is to be the same then.
    mutating func markPlaced() {
        self[PlacementNote.self] = url
    }

    /// Whether a server has made the URL of one that was asked before: parameters of agent and service that it names
    /// are not added once more.
    var isOfServersMaking: Bool {
        get { hasNotes && self[ServersMakingNote.self] }
        set { self[ServersMakingNote.self] = newValue }
    }

    /// The same request, which is placed where it asks for the very URL that a download's bytes have come from.
    func resuming(_ token: ResumeToken) -> Request {
        guard url.withoutUserinfo == token.url, parameters == nil else { return self }
        var request = self
        request.markPlaced()
        return request
    }
}

extension Optional where Wrapped == String {
    /// Nil for an empty text too.
    var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}
