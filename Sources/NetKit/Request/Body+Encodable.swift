#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Body {
    /// Returns a value as JSON. Equal values give the same bytes in every process, so a cache finds the response again.
    ///
    /// Members keep the order in which the value encodes them. The members of a dictionary and the elements of a `Set`
    /// are sorted. Dates are numbers, `Data` is Base64 and a `URL` is text, as with a default `JSONEncoder`. For other
    /// forms see ``Parameters/init(encoding:by:)``.
    ///
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that JSON cannot express, such as a number that
    ///   is not finite.
    public static func json(_ value: some Encodable, style: JSONStyle = JSONStyle()) throws(NetError) -> Body {
        let node = ParameterNode()
        do {
            try node.take(value, at: [], by: .json)
        } catch {
            throw NetError(encoding: error, as: "JSON")
        }
        do throws(NetError) {
            return Body(try node.parameters.jsonText(style: style), contentType: "application/json")
        } catch {
            throw error.code == .badParameter ? NetError(.unencodable, error.message, underlying: error) : error
        }
    }

    /// Returns a value as a property list, of type application/x-plist. The members of each dictionary are sorted by
    /// name, so equal values give the same bytes in every process.
    ///
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

    /// Returns parameters (an object or an array) as a property list, of type application/x-plist.
    ///
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that a property list cannot express: null, a
    ///   set, a repeated name, a number of more than 64 bits.
    public static func propertyList(
        _ parameters: Parameters, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body {
        switch parameters {
        case .object, .array: try propertyList(PropertyListValue(parameters), format: format)
        default: throw NetError(.unencodable, "the root of a property list is an object or an array")
        }
    }

    /// Returns parameters as a property list; `nil` gives no body and no type.
    public static func propertyList(
        _ parameters: Parameters?, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body? {
        guard let parameters else { return nil }
        let body: Body = try propertyList(parameters, format: format)
        return body
    }
}

/// Parameters for `PropertyListEncoder`, which would otherwise give null and repeated names its own meaning.
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
        func refuse(_ what: String) -> EncodingError {
            .invalidValue(value, .init(codingPath: encoder.codingPath, debugDescription: what))
        }
        switch value {
        case .null: throw refuse("null, which a property list cannot say")
        case .set: throw refuse("a set, which a property list cannot say")
        case .object(let fields):
            var container = encoder.container(keyedBy: Key.self)
            var names = Set<String>()
            for field in fields {
                guard names.insert(field.name).inserted else { throw refuse("the name '\(field.name)' occurs twice") }
                try container.encode(PropertyListValue(field.value), forKey: Key(stringValue: field.name))
            }
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values {
                try container.encode(PropertyListValue(value))
            }
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
                throw refuse("the number \(digits), which a property list cannot say")
            }
        }
    }

    private static func encode(_ value: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

extension NetError {
    /// Creates the error for an encoder's error, with the path of the value ("a.b[2]").
    fileprivate init(encoding error: any Error, as form: String) {
        guard case .invalidValue(let value, let context) = Self.innermost(error) else {
            self.init(.unencodable, "the value is not expressible as \(form): \(error)", underlying: error)
            return
        }
        let path = context.codingPath.reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += (path.isEmpty ? "" : ".") + key.stringValue
            }
        }
        let what = context.debugDescription.isEmpty ? "\(value)" : context.debugDescription
        self.init(.unencodable, "'\(path)' is not expressible as \(form): \(what)", underlying: error)
    }

    /// Returns the innermost error. PropertyListEncoder wraps each error in one of the root, whose path is empty.
    private static func innermost(_ error: any Error) -> EncodingError? {
        guard let error = error as? EncodingError, case .invalidValue(_, let context) = error else { return nil }
        return context.underlyingError.flatMap { innermost($0) } ?? error
    }
}
