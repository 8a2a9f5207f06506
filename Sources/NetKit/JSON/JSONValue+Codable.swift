#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
internal import Synchronization

extension JSONValue: Codable {
    /// Decodes a value of any form, for example a member whose form is not known.
    ///
    /// In a body that NetKit decodes, numbers keep all digits, and members their order. Other decoders of JSON convert
    /// numbers, and return members without an order; they are sorted by name then.
    public init(from decoder: any Decoder) throws {
        if let key = DecodedText.key, let text = decoder.userInfo[key] as? DecodedText,
            let value = text.value(at: decoder.codingPath)
        {
            self = value
        } else {
            self = try Self.converted(from: decoder)
        }
    }

    private static func converted(from decoder: any Decoder) throws -> JSONValue {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() { return .null }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Bool.self) { return .boolean(value) }
        if let value = try? container.decode(Int64.self) { return .number(JSONNumber(value)) }
        if let value = try? container.decode(UInt64.self) { return .number(JSONNumber(value)) }
        if let value = try? container.decode(Decimal.self), let number = JSONNumber(value.description) {
            return .number(number)
        }
        if let value = try? container.decode(Double.self), let number = JSONNumber("\(value)") {
            return .number(number)
        }
        if let values = try? container.decode([JSONValue].self) { return .array(values) }
        // Decoders do not rename the keys of a dictionary.
        let members = try container.decode([String: JSONValue].self)
        return .object(members.sorted { $0.key < $1.key }.map { Member(name: $0.key, value: $0.value) })
    }

    /// Encodes the value. In a body that NetKit encodes, numbers keep all digits, and members their order. Of several
    /// members with the same name, other encoders get the last one.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .string(let text): try container.encode(text)
        case .number(let number): try Self.encode(number, to: &container)
        case .array(let elements): try container.encode(elements)
        // Encoders do not rename the keys of a dictionary.
        case .object(let members):
            try container.encode(Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { _, last in last }))
        }
    }

    private static func encode(
        _ number: JSONNumber, to container: inout any SingleValueEncodingContainer
    ) throws {
        if let value = Int64(number.text) {
            return try container.encode(value)
        }
        if let value = UInt64(number.text) {
            return try container.encode(value)
        }
        let decimal = Decimal(string: number.text)
        guard let double = number.double, decimal == nil || Decimal(string: "\(double)") == decimal else {
            guard let decimal else {
                throw EncodingError.invalidValue(
                    number.text,
                    .init(codingPath: container.codingPath, debugDescription: "the encoder has no such number"))
            }
            return try container.encode(decimal)
        }
        try container.encode(double)
    }
}

extension JSONValue {
    /// The value as parameters, with the text of its numbers and the order of its members.
    package var parameters: Parameters {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let number): .number(number.text)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.parameters))
        case .object(let members):
            .object(members.map { Parameters.Field(name: $0.name, value: $0.value.parameters) })
        }
    }
}

/// The text that a decoder reads. It lets a ``JSONValue`` keep what decoders lose: the digits of numbers and the order
/// of members.
final class DecodedText: Sendable {
    static let key = CodingUserInfoKey(rawValue: "netkit.json.text")

    private let text: Bytes
    private let rules: JSONRules
    /// The tree of the text. It is parsed when the first ``JSONValue`` is decoded.
    private let tree = Mutex<JSONValue??>(.none)

    init(_ text: Bytes, rules: JSONRules) {
        self.text = text
        self.rules = rules
    }

    /// Returns the value at a path of keys. Returns `nil` if the decoder has renamed a key in an unknown way.
    func value(at path: [any CodingKey]) -> JSONValue? {
        let root = tree.withLock { tree in
            if case .some(let known) = tree {
                return known
            }
            let parsed = try? JSONValue(text, rules: rules)
            tree = .some(parsed)
            return parsed
        }
        return path.reduce(root) { value, key in
            if case .array? = value {
                return key.intValue.flatMap { value?[$0] }
            }
            return value?[key.stringValue] ?? value?.members?.last { $0.name.inCamelCase == key.stringValue }?.value
        }
    }
}

extension String {
    /// The name as `JSONDecoder` converts it from snake case: `user_id` becomes `userId`.
    fileprivate var inCamelCase: String {
        let words = split(separator: "_")
        guard words.count > 1, let first = words.first else { return self }
        let start = prefix { $0 == "_" }
        let end = reversed().prefix { $0 == "_" }
        return start + first.lowercased() + words.dropFirst().map(\.capitalized).joined() + String(end)
    }
}
