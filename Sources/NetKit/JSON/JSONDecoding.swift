#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Options for decoding a JSON body.
public struct JSONDecoding: Sendable {
    /// The rules for accepted JSON.
    public var rules = JSONRules()
    /// Whether null members and elements are removed, at any depth.
    public var removesNulls = false
    /// Creates a decoder for each response.
    public var makeDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }

    /// Creates options with default values.
    public init() {}

    /// Decodes a `Value` after the JSON was validated. An empty body is `nil` if `Value` is an Optional.
    func value<Value: Decodable>(in response: Response<Bytes>) throws -> Value {
        if let absent = absence(of: Value.self, in: response) {
            return absent
        }
        return try makeDecoder().decode(Value.self, from: try text(of: response.bytes).borrowedData)
    }

    /// Returns the validated text for the decoder.
    ///
    /// It is rewritten from the tree if a decoder would read it differently:
    /// - A decoder rejects a lone surrogate, which a tree replaces by U+FFFD.
    /// - A decoder uses the first of two members of a name. Here the last one counts.
    private func text(of bytes: Bytes) throws(NetError) -> Bytes {
        if removesNulls {
            return try JSONValue(bytes, rules: rules).removingNulls.bytes
        }
        try bytes.proveJSON(rules)
        var strictest = rules
        strictest.allowsLoneSurrogates = false
        strictest.refusesDuplicateNames = true
        if strictest == rules || bytes.isJSON(strictest) {
            return bytes
        }
        return try JSONValue(bytes, rules: rules).withLastMembers.bytes
    }

    /// Reads a tree.
    func tree(in response: Response<Bytes>) throws -> JSONValue {
        let tree = try JSONValue(response.bytes, rules: rules)
        return removesNulls ? tree.removingNulls : tree
    }

    /// Reads a tree, or `nil` for an empty body.
    func optionalTree(in response: Response<Bytes>) throws -> JSONValue? {
        response.bytes.isBlank ? nil : try tree(in: response)
    }

    private func absence<Value>(of type: Value.Type, in response: Response<Bytes>) -> Value? {
        guard let type = Value.self as? any OptionalValue.Type, response.bytes.isBlank else { return nil }
        return type.absent as? Value
    }
}

extension Bytes {
    fileprivate func isJSON(_ rules: JSONRules) -> Bool { (try? proveJSON(rules)) != nil }
}

extension Decoding where Value: Decodable {
    /// A JSON body, decoded with default settings.
    ///
    /// The body is first validated as JSON (RFC 8259) in UTF-8, regardless of the charset in the Content-Type. If an
    /// object has several members of one name, the last one counts, as in a ``JSONValue``.
    /// ``JSONRules/refusesDuplicateNames`` makes them an error.
    ///
    /// An empty or blank body is `nil` if `Value` is an Optional. Otherwise it throws ``NetError/Code/undecodable``, as
    /// malformed JSON does; ``NetError/jsonFaults`` has the position.
    public static var json: Decoding { json(JSONDecoding()) }

    /// A JSON body, decoded with these options.
    public static func json(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.value(in: $0) }
    }

    /// A JSON body, decoded by a decoder that `makeDecoder` creates for each response.
    public static func json(_ makeDecoder: @escaping @Sendable () -> JSONDecoder) -> Decoding {
        var choices = JSONDecoding()
        choices.makeDecoder = makeDecoder
        return json(choices)
    }
}

extension Decoding where Value == JSONValue {
    /// A JSON body as a tree.
    public static var tree: Decoding { tree(JSONDecoding()) }

    /// A JSON body as a tree. The decoder of the options is not used.
    public static func tree(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.tree(in: $0) }
    }
}

extension Decoding where Value == JSONValue? {
    /// A JSON body as a tree, or `nil` if it is empty or blank.
    public static var tree: Decoding { tree(JSONDecoding()) }

    /// A JSON body as a tree, or `nil` if it is empty or blank. The decoder of the options is not used.
    public static func tree(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.optionalTree(in: $0) }
    }
}
