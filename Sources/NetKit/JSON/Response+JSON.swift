extension Response where Value == Bytes {
    /// Decodes the body in another way.
    ///
    /// Throws the same errors as `send(_:)` if the body does not match.
    public func decoded<Other>(by decoding: Decoding<Other>) throws(NetError) -> Other {
        do {
            return try decoding.decode(self)
        } catch {
            throw NetError(decoding: error, to: Other.self, from: self)
        }
    }

    /// Throws ``NetError/Code/unacceptableType`` unless the Content-Type is one of these.
    func checkType(_ accepted: [String]?) throws(NetError) {
        if let error = typeError(accepted) {
            throw error
        }
    }

    /// Returns the error for a Content-Type that is none of these, or `nil`.
    func typeError(_ accepted: [String]?) -> NetError? {
        guard let accepted, !MediaTypes.accept(headers["Content-Type"], accepted) else { return nil }
        return NetError(
            .unacceptableType,
            "the body from \(place) is \"\(headers["Content-Type"] ?? "")\", not \(accepted.joined(separator: ", "))",
            response: self)
    }

    /// Returns the error for a body that is not JSON, or ``NetError/Code/badCharset`` if its charset is the reason.
    ///
    /// JSON is UTF-8, and a charset in its Content-Type has no effect (RFC 8259, 8.1 and 11). Some bytes cannot occur
    /// in JSON, such as letters of ISO-8859-1 or a NUL of UTF-16. Only such a byte is explained by another charset in
    /// the Content-Type.
    func blamingCharset(for error: NetError) -> NetError {
        guard error.code == .badJSON,
            error.jsonFaults.contains(where: { $0.found.hasPrefix("byte ") })
                || String(validating: bytes, as: UTF8.self) == nil,
            let charset = headers["Content-Type"].flatMap(charsetName), !charset.isEmpty,
            !["utf-8", "utf8", "us-ascii"].contains(charset.lowercased())
        else { return error }
        return NetError(
            .badCharset, "the JSON from \(place) is in \(charset), and JSON comes in UTF-8", offset: error.offset,
            response: self, jsonFaults: error.jsonFaults)
    }
}

extension NetError {
    /// Wraps the error of a decoding.
    init<Value>(decoding error: any Error, to type: Value.Type, from received: Response<Bytes>) {
        guard let error = error as? NetError else {
            self.init(
                .undecodable, "the body from \(received.place) is no \(Value.self): \(error)", response: received,
                underlying: error)
            return
        }
        let cause = received.blamingCharset(for: error)
        guard cause.code == .badJSON else {
            self = cause.telling(received)
            return
        }
        self.init(
            .undecodable, "the body from \(received.place) is no JSON: \(cause.message)", offset: cause.offset,
            response: received, jsonFaults: cause.jsonFaults, underlying: cause)
    }

    /// Decodes the body of a response whose status was not accepted. `nil` if there is none, or if it does not decode.
    ///
    ///     catch let error as NetError { let problem = error.decodedBody(as: Problem.self) }
    public func decodedBody<Value: Decodable & Sendable>(
        as type: Value.Type, by decoding: Decoding<Value> = .json
    ) -> Value? {
        guard var response else { return nil }
        // A copy, because a body check applies to a whole body.
        response.bytes = Bytes(Array(response.bytes))
        guard !response.bytes.isBlank, (try? response.checkType(decoding.types)) != nil else { return nil }
        return try? decoding.decode(response)
    }

    /// The body of a response whose status was not accepted, as a tree. `nil` if there is none, or if it is not JSON.
    public var jsonBody: JSONValue? {
        guard let response, (try? response.checkType(MediaTypes.json)) != nil else { return nil }
        return try? Decoding<JSONValue>.tree.decode(response)
    }
}
