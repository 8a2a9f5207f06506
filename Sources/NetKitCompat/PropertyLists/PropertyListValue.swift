#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

/// Parameters in a form that `PropertyListEncoder` encodes. Null and repeated names are errors here: the encoder alone
/// would write a placeholder for null and keep only one of the repeated names.
struct PropertyListValue: Encodable {
    struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    let value: Parameters

    init(_ value: Parameters) {
        self.value = value
    }

    func encode(to encoder: any Encoder) throws {
        func unrepresentable(_ reason: String) -> EncodingError {
            .invalidValue(value, .init(codingPath: encoder.codingPath, debugDescription: reason))
        }
        switch value {
        case .null: throw unrepresentable("null, which a property list cannot represent")
        case .set: throw unrepresentable("a set, which a property list cannot represent")
        case .object(let fields):
            var container = encoder.container(keyedBy: Key.self)
            var names = Set<String>()
            for field in fields {
                guard names.insert(field.name).inserted else {
                    throw unrepresentable("the name '\(field.name)' occurs twice")
                }
                try container.encode(PropertyListValue(field.value), forKey: Key(stringValue: field.name))
            }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values {
                try container.encode(PropertyListValue(value))
            }
        case .date(let date): try Self.encode(date, to: encoder)
        case .unencodable(let reason): throw unrepresentable(reason)
        case .boolean(let value): try Self.encode(value, to: encoder)
        case .integer(let value): try Self.encode(value, to: encoder)
        case .double(let value): try Self.encode(value, to: encoder)
        case .string(let value): try Self.encode(value, to: encoder)
        case .bytes(let bytes): try Self.encode(Data(bytes), to: encoder)
        case .number(let digits):
            if let value = Int64(digits) {
                try Self.encode(value, to: encoder)
            } else if let value = UInt64(digits) {
                try Self.encode(value, to: encoder)
            } else if let value = Double(digits), value.isFinite, digits.contains(where: { ".eE".contains($0) }) {
                try Self.encode(value, to: encoder)
            } else {
                throw unrepresentable("the number \(digits), which a property list cannot represent")
            }
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension NetError {
    /// Converts an error of `PropertyListEncoder`. The message contains the path of the value, such as "a.b[2]".
    init(encodingPropertyList error: any Error) {
        guard case .invalidValue(let value, let context) = Self.innermost(error) else {
            self.init(.encoding, "the value cannot be encoded as a property list: \(error)", underlying: error)
            return
        }
        let path = context.codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        let reason = context.debugDescription.isEmpty ? "\(value)" : context.debugDescription
        self.init(.encoding, "'\(path)' cannot be encoded as a property list: \(reason)", underlying: error)
    }

    /// Returns the innermost error. `PropertyListEncoder` wraps each error in an error of the root value, whose path is
    /// empty.
    private static func innermost(_ error: any Error) -> EncodingError? {
        guard let error = error as? EncodingError, case .invalidValue(_, let context) = error else { return nil }
        return context.underlyingError.flatMap { innermost($0) } ?? error
    }
}
