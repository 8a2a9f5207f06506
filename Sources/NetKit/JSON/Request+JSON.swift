extension Request where Value == JSONValue {
    /// Creates a request for a JSON body as a tree. Accepts statuses from 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .tree)
    }
}

extension Request where Value == JSONValue? {
    /// Creates a request for a JSON body as a tree, which is `nil` if the body is empty or blank. Accepts statuses from
    /// 200 to 299.
    public init(
        _ url: String, method: Method = .get, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(url, method: method, parameters: parameters, headers: headers, body: body, decoding: .tree)
    }
}

extension Request {
    /// Returns the request with a shape that its body must match; see ``expecting(_:)-(JSONExpectation)``.
    ///
    /// - Parameters:
    ///   - shape: the shape of the body.
    ///   - isLenient: as ``JSONExpectation/isLenient``.
    ///   - maxMismatches: as ``JSONExpectation/maxMismatches``.
    ///   - types: as ``acceptedTypes``; `nil` leaves them unchanged.
    ///   - statuses: as ``acceptedStatuses``; `nil` leaves them unchanged.
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

    /// Returns the request with an expectation that its body must meet. The body is checked while it arrives. The first
    /// wrong byte ends the transfer with ``NetError/Code/shapeMismatch`` or ``NetError/Code/badJSON``. The error
    /// contains the positions (``NetError/jsonFaults``), the head, and the body so far.
    ///
    /// The check applies to bodies with an accepted status and content type. A request that accepts every status
    /// accepts those from 200 to 299 from now on. A response of another status or type fails with its whole body,
    /// unchecked. An empty body is not JSON, unless ``JSONExpectation/allowsEmptyBody`` is set.
    ///
    /// - `save(_:to:)` leaves the file unchanged unless the body passes.
    /// - An output receives the chunks before the wrong one, and no end.
    /// - A download can resume an earlier one, so it throws ``NetError/Code/usage``.
    /// - `stream(_:)` delivers the chunks as they arrive and throws after the wrong one. It accepts every status, so a
    ///   stream of another status or type is delivered unchecked; check ``ResponseStream/status`` and its headers.
    public func expecting(_ expectation: JSONExpectation) -> Request {
        var request = self
        request.expectation = expectation
        request.acceptedStatuses = acceptedStatuses ?? 200..<300
        return request
    }
}

extension Request {
    /// Returns whether the request accepts a Content-Type; an empty one is accepted.
    public func accepts(contentType: String) -> Bool {
        let types = acceptedTypes ?? (expectation == nil ? decoding.types : MediaTypes.json)
        return types.map { MediaTypes.accept(contentType, $0) } ?? true
    }
}
