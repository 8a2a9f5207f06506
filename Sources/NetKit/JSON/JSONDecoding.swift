#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How a JSON body is read.
public struct JSONDecoding: Sendable {
    /// What JSON is accepted.
    public var rules = JSONRules()
    /// Whether members and elements that are null are left out, at any depth.
    public var removesNulls = false
    /// Makes a decoder for each response.
    public var makeDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }

    /// The defaults.
    public init() {}

    /// Reads a `Value`: JSON is proven first, then decoded. An empty body is nil where `Value` is an Optional.
    func value<Value: Decodable>(in response: Response<Bytes>) throws -> Value {
        if let absent = absence(of: Value.self, in: response) {
            return absent
        }
        return try makeDecoder().decode(Value.self, from: try text(of: response.bytes).borrowedData)
    }

    /// What the decoder gets, proven.
    ///
    /// A decoder takes no half of a surrogate pair, while a tree has U+FFFD in its place. And of two members of a name a
    /// decoder takes the first, while the last counts here: where either occurs, the decoder gets the tree's text.
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

    /// Reads a tree; nil for an empty body.
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
    /// A JSON body, by a decoder with default settings.
    ///
    /// The body is proven to be JSON (RFC 8259) in UTF-8 first, whatever charset the Content-Type names. Of several members
    /// of a name in one object the last counts, as in a ``JSONValue``; ``JSONRules/refusesDuplicateNames`` makes them an
    /// error. A body that is empty or blank is nil where `Value` is an
    /// Optional, and otherwise ``NetError/Code/undecodable`` as is all that is no JSON; ``NetError/jsonFaults`` names
    /// the place.
    public static var json: Decoding { json(JSONDecoding()) }

    /// A JSON body, as these choices say.
    public static func json(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.value(in: $0) }
    }

    /// A JSON body, by a decoder that `makeDecoder` sets up anew for each response.
    public static func json(_ makeDecoder: @escaping @Sendable () -> JSONDecoder) -> Decoding {
        var choices = JSONDecoding()
        choices.makeDecoder = makeDecoder
        return json(choices)
    }
}

extension Decoding where Value == JSONValue {
    /// A JSON body as a tree.
    public static var tree: Decoding { tree(JSONDecoding()) }

    /// A JSON body as a tree; a decoder among the choices does not matter.
    public static func tree(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.tree(in: $0) }
    }
}

extension Decoding where Value == JSONValue? {
    /// A JSON body as a tree; nil when it is empty or blank.
    public static var tree: Decoding { tree(JSONDecoding()) }

    /// A JSON body as a tree, nil when it is empty or blank; a decoder among the choices does not matter.
    public static func tree(_ choices: JSONDecoding) -> Decoding {
        Decoding(types: MediaTypes.json) { try choices.optionalTree(in: $0) }
    }
}
