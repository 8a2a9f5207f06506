extension Request where Value == JSONValue {
    /// Asks for a JSON body as a tree; statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .tree)
    }
}

extension Request where Value == JSONValue? {
    /// Asks for a JSON body as a tree, nil when it is empty or blank; statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .tree)
    }
}

extension Request {
    /// The request, whose body has to be as this shape wants it; see ``expecting(_:)-(JSONExpectation)``.
    ///
    /// - Parameters:
    ///   - shape: what the body has to be.
    ///   - isLenient: as ``JSONExpectation/isLenient``.
    ///   - maxMismatches: as ``JSONExpectation/maxMismatches``.
    ///   - types: as ``acceptedTypes``; nil leaves them.
    ///   - statuses: as ``acceptedStatuses``; nil leaves them.
    public func expecting(
        _ shape: JSONShape, isLenient: Bool = false, maxMismatches: Int = 1, types: [String]? = nil,
        statuses: Range<Int>? = nil
    ) -> Request {
        var expectation = JSONExpectation(shape)
        expectation.isLenient = isLenient
        expectation.maxMismatches = maxMismatches
        var request = expecting(expectation)
        request.acceptedTypes = types ?? request.acceptedTypes
        request.acceptedStatuses = statuses ?? request.acceptedStatuses
        return request
    }

    /// The request, whose body has to be as expected: it is checked as it arrives, and the first byte that is wrong ends
    /// the transfer with ``NetError/Code/shapeMismatch`` or ``NetError/Code/badJSON``. The error tells the places
    /// (``NetError/jsonFaults``), the head, and the body so far.
    ///
    /// It speaks of bodies with an accepted status and content type; a request that accepts every status accepts those
    /// from 200 to 299 from now on. Another status or type is told with the whole body, unchecked. An empty body is no
    /// JSON, unless ``JSONExpectation/allowsEmptyBody`` is set.
    ///
    /// `save(_:to:)` leaves the file as it was unless the body passes. An output hears the pieces before the one that is
    /// wrong, and no end. A download, which may go on where another ended, throws ``NetError/Code/usage``.
    /// `stream(_:)` gives the pieces as they come and throws behind the one that is wrong; since every status is an answer
    /// to it, a stream of another status or type is given unchecked: ``ResponseStream/status`` and its headers tell.
    public func expecting(_ expectation: JSONExpectation) -> Request {
        var request = self
        request.expectation = expectation
        request.acceptedStatuses = acceptedStatuses ?? 200..<300
        return request
    }
}

extension Request {
    /// Whether a Content-Type is one that the request accepts; an empty one is.
    public func accepts(contentType: String) -> Bool {
        let types = acceptedTypes ?? (expectation == nil ? decoding.types : MediaTypes.json)
        return types.map { MediaTypes.accept(contentType, $0) } ?? true
    }
}
