/// Where one request's URL begins, where it is not the agent's or the service's base.
private enum PlaceNote: RequestNote {
    struct Place: Sendable {
        var baseURL: String?
        var cdnURL: String?
        var usesCDN = false
    }

    static let standard = Place()
}

private enum CompletenessNote: RequestNote {
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

extension Optional where Wrapped == String {
    /// Nil for an empty text too.
    var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}
