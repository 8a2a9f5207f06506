extension Response {
    /// Decodes the body as another type; see ``Decoding/automatic``.
    ///
    ///     let response = try await agent.get("cities/1")
    ///     let city = try response.decode(City.self)
    ///
    /// - Throws: the same errors as `send(_:)` if the body cannot be decoded.
    public func decode<Other: Decodable & Sendable>(_ type: Other.Type = Other.self) throws(NetError) -> Other {
        try decode(by: .automatic)
    }

    /// Decodes the body with another decoding.
    ///
    /// - Throws: the same errors as `send(_:)` if the body cannot be decoded.
    public func decode<Other>(by decoding: Decoding<Other>) throws(NetError) -> Other {
        let received = replacingValue(by: bytes)
        do {
            return try decoding.decode(received)
        } catch {
            throw NetError(decoding: error, to: Other.self, from: received)
        }
    }

    /// Decodes the body as a JSON tree.
    ///
    /// - Throws: the same errors as `send(_:)` if the body is not JSON.
    public func json() throws(NetError) -> JSONValue { try decode(by: .json) }

    /// The body as text, in the charset that ``Decoding/text`` finds. Bytes that are invalid in it are replaced as in
    /// UTF-8. To get an error instead, use `try response.decode(String.self)`.
    public var text: String {
        (try? Decoding<String>.text.decode(replacingValue(by: bytes))) ?? String(decoding: bytes, as: UTF8.self)
    }
}

extension Response where Value == Bytes {

    /// Throws ``NetError/Code/contentType`` if the Content-Type matches none of these types. `nil` accepts all.
    func checkType(_ accepted: [String]?) throws(NetError) {
        if let error = typeError(accepted) {
            throw error
        }
    }

    /// Returns the error if the Content-Type matches none of these types, otherwise `nil`.
    func typeError(_ accepted: [String]?) -> NetError? {
        guard let accepted, !MediaTypes.accept(headers["Content-Type"], accepted) else { return nil }
        return NetError(
            .contentType,
            "the body from \(urlWithoutQuery) is \"\(headers["Content-Type"] ?? "")\", not \(accepted.joined(separator: ", "))",
            response: self)
    }

    /// Returns the error of a body that is not JSON. If its charset is the cause, returns ``NetError/Code/badCharset``
    /// instead.
    ///
    /// JSON is always UTF-8, and a charset in its Content-Type has no effect (RFC 8259, 8.1 and 11). The charset counts
    /// as the cause if the Content-Type names another one, and if the fault is a byte that cannot occur in JSON.
    /// Examples are letters in ISO-8859-1 and NUL bytes of UTF-16.
    func blamingCharset(for error: NetError) -> NetError {
        guard error.code == .badJSON,
            error.jsonFaults.contains(where: { $0.found.hasPrefix("byte ") })
                || String(validating: bytes, as: UTF8.self) == nil,
            let charset = headers["Content-Type"].flatMap(charsetName), !charset.isEmpty,
            !["utf-8", "utf8", "us-ascii"].contains(charset.lowercased())
        else { return error }
        return NetError(
            .badCharset, "the JSON from \(urlWithoutQuery) is encoded in \(charset), but JSON must be UTF-8",
            offset: error.offset,
            response: self, jsonFaults: error.jsonFaults)
    }
}

extension NetError {
    /// Creates the error for a body that cannot be decoded from the decoder's error.
    init<Value>(decoding error: any Error, to type: Value.Type, from received: Response<Bytes>) {
        guard let error = error as? NetError else {
            self.init(
                .decoding, "the body from \(received.urlWithoutQuery) cannot be decoded as \(Value.self): \(error)",
                response: received,
                underlying: error)
            return
        }
        let cause = received.blamingCharset(for: error)
        guard cause.code == .badJSON else {
            self = cause.attaching(received)
            return
        }
        self.init(
            .decoding, "the body from \(received.urlWithoutQuery) is not valid JSON: \(cause.message)",
            offset: cause.offset,
            response: received, jsonFaults: cause.jsonFaults, underlying: cause)
    }

    /// Decodes the body of the response in this error, for example of one whose status was not accepted. Returns `nil`
    /// if there is no body, or if it cannot be decoded.
    ///
    ///     catch { let problem = error.decodedBody(as: Problem.self) }
    ///
    /// By default the body is decoded by the type of the value, with the ``JSONCoding`` of the request.
    public func decodedBody<Value: Decodable & Sendable>(
        as type: Value.Type = Value.self, by decoding: Decoding<Value> = .automatic
    ) -> Value? {
        guard var response else { return nil }
        // Copied, because the result of an earlier body check must not be used for this decoding.
        response.bytes = Bytes(Array(response.bytes))
        guard !response.bytes.isBlank, (try? response.checkType(decoding.types)) != nil else { return nil }
        return try? decoding.decode(response)
    }
}

/// Matches content types with patterns such as "text/json", "application/*", "*/*", or "*+json" for a suffix (RFC
/// 6839). Parameters of types and patterns are ignored.
enum MediaTypes {
    /// The types of JSON.
    static let json = ["application/json", "text/json", "text/javascript", "*+json"]
    /// The types of multipart bodies.
    static let multipart = ["multipart/*"]

    /// Returns true if a Content-Type matches one of the patterns. Also returns true if there is no Content-Type,
    /// because then only the body can show its type (RFC 9110, 8.3).
    static func accept(_ contentType: String?, _ patterns: [String]) -> Bool {
        guard let contentType else { return true }
        return contentType.hasMediaType(of: "") || patterns.contains { contentType.hasMediaType(of: $0) }
    }
}
