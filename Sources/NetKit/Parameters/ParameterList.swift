#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A dictionary literal whose values are variables, literals, or any other `Encodable` values, in the literal's order.
///
///     agent.get("search", query: ["q": text, "page": page, "near": place, "since": date, "tags": ["a", "b"]])
///
/// An optional variable that is `nil` gives ``Parameters/null``. A nested literal of one type keeps its values, but its
/// names are sorted. Beside variables, a nested literal of several types needs its type:
/// `["q": text, "near": ["lat": 59.9, "name": "Oslo"] as Parameters]`.
public struct ParameterList: Sendable, ExpressibleByDictionaryLiteral {
    private(set) var fields: [Parameters.Field]

    init(fields: [Parameters.Field]) {
        self.fields = fields
    }

    /// Creates the list. A repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, (any Encodable)?)...) {
        fields = elements.map { Parameters.Field(name: $0.0, value: Parameters(any: $0.1)) }
    }

    /// The value with this name, for assigning a variable: `request.query["page"] = page`. Setting `nil` removes it.
    public subscript(name: String) -> (any Encodable)? {
        get { Parameters(self)[name] }
        set {
            var parameters = Parameters(self)
            parameters[name] = newValue.map { Parameters(any: $0) }
            fields = parameters.fields
        }
    }
}

extension Parameters {
    init(any value: (any Encodable)?) {
        switch value {
        case nil: self = .null
        case let tree as Parameters: self = tree
        case let text as String: self = .string(text)
        case let number as Int: self = .integer(Int64(number))
        case let value?: self = Self.encoding(value)
        }
    }

    private static func encoding(_ value: some Encodable) -> Parameters { Parameters(value) }
}

extension Parameters: Encodable {
    /// Encodes the value. A ``bytes(_:)`` is encoded as `Data`, and a ``number(_:)`` as a number that may lose digits.
    ///
    /// An encoder for dictionaries keeps only one of several fields with the same name.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let fields):
            var container = encoder.container(keyedBy: NameKey.self)
            for field in fields {
                try container.encode(field.value, forKey: NameKey(field.name))
            }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values {
                try container.encode(value)
            }
        case .set(let values):
            var container = encoder.unkeyedContainer()
            for value in ParameterNode.sorted(Array(values)) {
                try container.encode(value)
            }
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container)
        }
    }

    private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .number(let digits): try JSONNumber(digits).map { try container.encode(JSONValue.number($0)) }
        case .string(let text): try container.encode(text)
        case .date(let date): try container.encode(date)
        case .bytes(let bytes): try container.encode(Data(bytes))
        case .unencodable(let reason):
            throw EncodingError.invalidValue(
                self, .init(codingPath: container.codingPath, debugDescription: reason))
        default: try container.encodeNil()
        }
    }
}
