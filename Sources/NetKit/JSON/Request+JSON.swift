private enum JSONCodingOption: RequestOption {
    static let defaultValue = JSONCodingStorage?.none
}

extension Request {
    /// How JSON is written and read for this request. If `nil`, the setting of the service applies, or else that of the
    /// agent.
    public var json: JSONCoding? {
        get { self[JSONCodingOption.self]?.value }
        set { self[JSONCodingOption.self] = newValue.map { JSONCodingStorage($0) } }
    }

    /// The same behind one reference.
    var jsonStorage: JSONCodingStorage? { hasOptions ? self[JSONCodingOption.self] : nil }

    /// The same request without its decoding.
    package var erased: Request<Bytes> {
        var request = decoded(by: .bytes)
        if wantsJSON, !request.content.wantsJSON {
            request.content.wantsJSON = true
        }
        return request
    }

    /// Whether the response is expected to be JSON: `Accept: application/json` is sent then.
    var wantsJSON: Bool {
        if storage.value.wantsJSON {
            return true
        }
        guard let types = decoding.types, types.contains("application/json") else { return false }
        return acceptedTypes.map { MediaTypes.accept("application/json", $0) } ?? true
    }
}

extension Request {
    /// Returns the request with a shape that its body must match; see ``expecting(_:)-(JSONExpectation)``.
    ///
    /// - Parameters:
    ///   - shape: the shape of the body.
    ///   - isLenient: see ``JSONExpectation/isLenient``.
    ///   - maxMismatches: see ``JSONExpectation/maxMismatches``.
    ///   - types: the accepted content types. If `nil`, ``acceptedTypes`` is not changed.
    ///   - statuses: the accepted statuses. If ``StatusSet/automatic``, ``acceptedStatuses`` is not changed.
    public func expecting(
        _ shape: JSONShape, isLenient: Bool = false, maxMismatches: Int = 1, types: [String]? = nil,
        statuses: StatusSet = .automatic
    ) -> Request {
        var expectation = JSONExpectation(shape)
        expectation.isLenient = isLenient
        expectation.maxMismatches = maxMismatches
        var request = expecting(expectation)
        request.acceptedTypes = types ?? request.acceptedTypes
        request.acceptedStatuses = statuses.resolved(request.acceptedStatuses)
        return request
    }

    /// Returns the request with a schema that its body must match; see ``expecting(_:)-(JSONExpectation)``.
    ///
    /// If the body does not match, ``JSONFault/keyword`` is the location of the keyword in the schema.
    public func expecting(schema: JSONSchema) -> Request {
        expecting(JSONExpectation(schema: schema))
    }

    /// Returns the request with an expectation that its body must meet.
    ///
    /// The body is checked while it arrives. The first wrong byte ends the transfer with
    /// ``NetError/Code/shapeMismatch`` or ``NetError/Code/badJSON``. The error contains the positions
    /// (``NetError/jsonFaults``), the response head, and the body so far.
    ///
    /// Only bodies with an accepted status and content type are checked. If the request accepted every status, it now
    /// accepts those from 200 to 299. A response with another status or type fails, and the error contains its whole
    /// body. An empty body is not JSON, unless ``JSONExpectation/allowsEmptyBody`` is set.
    ///
    /// - `download(_:to:)` changes the file only if the whole body meets the expectation.
    /// - An output receives the chunks before the wrong one, and is not finished.
    /// - `stream(_:)` delivers the chunks as they arrive, and throws at the wrong one. It accepts every status, and
    ///   does not check a body with another status or type. Check ``ResponseStream/status`` and its headers.
    public func expecting(_ expectation: JSONExpectation) -> Request {
        var request = self
        request.expectation = expectation
        request.acceptedStatuses = acceptedStatuses.restricted
        return request
    }
}

extension Request {
    /// Returns true if the request accepts a Content-Type. An empty one is always accepted.
    package func accepts(contentType: String) -> Bool {
        let types = acceptedTypes ?? (expectation == nil ? decoding.types : MediaTypes.json)
        return types.map { MediaTypes.accept(contentType, $0) } ?? true
    }
}
