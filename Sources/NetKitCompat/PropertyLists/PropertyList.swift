#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif
public import NetKit

/// The format of a property list.
public enum PropertyListFormat: Sendable, Hashable {
    /// XML 1.0, as AFNetworking writes it.
    case xml
    /// The binary format.
    case binary
}

/// Writes parameters as a property list, like AFNetworking's `AFPropertyListRequestSerializer`.
public struct PropertyListSerializer: RequestSerializer {
    private let format: PropertyListFormat

    /// Creates a serializer with this format.
    public init(format: PropertyListFormat = .xml) {
        self.format = format
    }

    /// Returns the property list.
    /// - Throws: `NetError.Code.encoding` with the path of a value that a property list cannot express.
    public func body(of parameters: Parameters, method: Method) throws -> Body {
        try .propertyList(parameters, format: format)
    }
}

extension Body {
    /// Returns a property list body with an encoded value and the type `application/x-plist`. The members of each
    /// dictionary are sorted by name, so equal values give the same bytes in every process.
    /// - Throws: `NetError.Code.encoding` with the path of a value that a property list cannot express.
    public static func propertyList(
        _ value: some Encodable, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format == .xml ? .xml : .binary
        do {
            let list = PropertyListOrder.sorted(Array(try encoder.encode(value)))
            return Body(Bytes(list), contentType: "application/x-plist")
        } catch {
            throw NetError(encodingPropertyList: error)
        }
    }

    /// Returns a property list body with parameters (an object or an array) and the type `application/x-plist`.
    /// - Throws: `NetError.Code.encoding` with the path of a value that a property list cannot express: null, a
    ///   set, a repeated name, a number of more than 64 bits.
    public static func propertyList(
        _ parameters: Parameters, format: PropertyListFormat = .xml
    ) throws(NetError) -> Body {
        switch parameters {
        case .object, .array: try propertyList(PropertyListValue(parameters), format: format)
        default: throw NetError(.encoding, "the root of a property list must be an object or an array")
        }
    }
}

extension Decoding where Value: Decodable {
    /// Decodes an XML or binary property list of type `application/x-plist`.
    /// If `Value` is an Optional, an empty body gives `nil`. Decoding throws `NetError.Code.decoding` for:
    /// - any other empty body
    /// - a body that is not a property list
    /// - a list with more than 128 levels or more than 1,000,000 values
    /// - a list whose strings and data, after references are expanded, exceed both 256 MiB and the size of the body
    /// Without these limits, such a list could crash Foundation's decoder or exhaust memory. Old-style ("OpenStep")
    /// lists are not supported, because nearly any text would be accepted as one.
    public static var propertyList: Decoding { propertyList { PropertyListDecoder() } }

    /// Decodes a property list like ``propertyList``, but with the decoder that `makeDecoder` creates for each
    /// response.
    public static func propertyList(_ makeDecoder: @escaping @Sendable () -> PropertyListDecoder) -> Decoding {
        Decoding(types: ["application/x-plist"]) { response in
            if let type = Value.self as? any OptionalValue.Type, response.bytes.isEmpty,
                let absent = type.absent as? Value
            {
                return absent
            }
            try PropertyListMeasure.check(response.bytes)
            return try makeDecoder().decode(Value.self, from: response.bytes.data)
        }
    }
}

/// A type that has a value for an empty body: an Optional.
private protocol OptionalValue {
    static var absent: Self { get }
}

extension Optional: OptionalValue {
    fileprivate static var absent: Wrapped? { nil }
}
