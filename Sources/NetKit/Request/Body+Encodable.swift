#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Body {
    /// Returns a JSON body with an encoded value. Equal values give the same bytes in every process, so the same
    /// request has the same cache key.
    ///
    /// Members keep the order in which the value encodes them. The members of a dictionary and the elements of a `Set`
    /// are sorted. `Data` becomes Base64 and a `URL` becomes a string. The ``JSONCoding`` of the request determines the
    /// form of dates (ISO 8601 by default), the spelling of names, and the layout if `style` is `nil`.
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that JSON cannot express, such as a number that
    ///   is not finite.
    @_disfavoredOverload
    public static func json(_ value: some Encodable, style: JSONStyle? = nil) throws(NetError) -> Body {
        let node = ParameterNode()
        do {
            try node.encode(value, at: [], by: .json)
        } catch {
            throw NetError(encoding: error, as: "JSON")
        }
        return try Body(jsonValue: node.parameters, style: style)
    }

    /// Creates the JSON body of an encoded value.
    init(jsonValue values: Parameters, style: JSONStyle?) throws(NetError) {
        do throws(NetError) {
            try self.init(json: values, style: style)
        } catch {
            throw error.code == .badParameter ? NetError(.unencodable, error.message, underlying: error) : error
        }
    }

    /// Creates a JSON body with the default settings. It keeps the values, so that a ``JSONCoding`` can write them
    /// again.
    init(json values: Parameters, style: JSONStyle?) throws(NetError) {
        self.init(try values.jsonText(style: style ?? JSONStyle()), contentType: "application/json")
        jsonSource = JSONSource(values: values, style: style)
    }

    /// The values of a JSON body.
    final class JSONSource: Sendable {
        let values: Parameters
        /// The layout that the caller chose. If `nil`, the request's applies.
        let style: JSONStyle?

        init(values: Parameters, style: JSONStyle?) {
            self.values = values
            self.style = style
        }
    }

    /// Writes a body of ``json(_:style:)-(Encodable,_)`` again with other settings. Other bodies are unchanged.
    mutating func apply(_ coding: JSONCoding) throws(NetError) {
        guard let source = jsonSource, !coding.writesByDefault || (source.style == nil && coding.style != JSONStyle())
        else {
            return
        }
        let values = try coding.spelled(source.values)
        bytes = try values.jsonText(style: source.style ?? coding.style)
    }

    /// Returns a property list body with an encoded value and the type `application/x-plist`. The members of each
    /// dictionary are sorted by name, so equal values give the same bytes in every process.
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that a property list cannot express.
    public static func propertyList(
        _ value: some Encodable, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        do {
            let list = PropertyListOrder.sorted(Array(try encoder.encode(value)))
            return Body(Bytes(list), contentType: "application/x-plist")
        } catch {
            throw NetError(encoding: error, as: "a property list")
        }
    }

    /// Returns a property list body with parameters (an object or an array) and the type `application/x-plist`.
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that a property list cannot express: null, a
    ///   set, a repeated name, a number of more than 64 bits.
    public static func propertyList(
        _ parameters: Parameters, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body {
        switch parameters {
        case .object, .array: try propertyList(PropertyListValue(parameters), format: format)
        default: throw NetError(.unencodable, "the root of a property list must be an object or an array")
        }
    }
}

/// Parameters in a form that `PropertyListEncoder` encodes. Null and repeated names are errors here: the encoder alone
/// would write a placeholder for null and keep only one of the repeated names.
private struct PropertyListValue: Encodable {
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
    /// Converts an error that an encoder threw. The message contains the path of the value, such as "a.b[2]".
    init(encoding error: any Error, as form: String) {
        guard case .invalidValue(let value, let context) = Self.innermost(error) else {
            self.init(.unencodable, "the value cannot be encoded as \(form): \(error)", underlying: error)
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
        self.init(.unencodable, "'\(path)' cannot be encoded as \(form): \(reason)", underlying: error)
    }

    /// Returns the innermost error. `PropertyListEncoder` wraps each error in an error of the root value, whose path is
    /// empty.
    private static func innermost(_ error: any Error) -> EncodingError? {
        guard let error = error as? EncodingError, case .invalidValue(_, let context) = error else { return nil }
        return context.underlyingError.flatMap { innermost($0) } ?? error
    }
}
