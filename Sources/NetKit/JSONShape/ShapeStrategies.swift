#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Types whose JSON is determined by the decoder.
struct ShapeStrategies {
    let dates: JSONShape
    let data: JSONShape
    let floats: JSONShape
    /// Values of types that cannot be generated.
    let samples: [ObjectIdentifier: any Decodable]

    init(_ decoder: JSONDecoder, samples: [any Decodable & Sendable]) throws {
        switch decoder.keyDecodingStrategy {
        case .useDefaultKeys: break
        default: throw Underivable("the decoder changes names, so that those in JSON are not known")
        }
        switch decoder.dateDecodingStrategy {
        case .deferredToDate, .secondsSince1970, .millisecondsSince1970: dates = .number
        case .iso8601: dates = .string
        default: dates = .any
        }
        switch decoder.dataDecodingStrategy {
        case .base64: data = .string
        case .deferredToData: data = [.integer(min: 0, max: 255)]
        default: data = .any
        }
        switch decoder.nonConformingFloatDecodingStrategy {
        case .throw: floats = .number
        default: floats = JSONShape.number.or(.string)
        }
        self.samples = Dictionary(
            samples.map { (ObjectIdentifier(type(of: $0)), $0 as any Decodable) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the shape of a type that is not examined.
    func shape(of type: any Decodable.Type) -> JSONShape? {
        switch type {
        case is Bool.Type: .boolean
        case is String.Type, is URL.Type, is UUID.Type: .string
        case is Int.Type, is Int8.Type, is Int16.Type, is Int32.Type, is Int64.Type: .integer
        case is Int128.Type: .integer
        case is UInt.Type, is UInt8.Type, is UInt16.Type, is UInt32.Type, is UInt64.Type: .integer(min: 0)
        case is UInt128.Type: .integer(min: 0)
        case is Double.Type, is Float.Type: floats
        case is Decimal.Type: .number
        case is Date.Type: dates
        case is Data.Type: data
        default: nil
        }
    }

    /// Returns a shape of an enumeration's raw values, or `nil` if it does not list its cases.
    static func cases(of type: any Decodable.Type) -> JSONShape? {
        guard let type = type as? any (RawRepresentable & CaseIterable).Type else { return nil }
        return rawValues(of: type)
    }

    private static func rawValues<Value: RawRepresentable & CaseIterable>(of type: Value.Type) -> JSONShape? {
        let values = type.allCases.compactMap { value -> JSONValue? in
            switch value.rawValue {
            case let text as String: .string(text)
            case let number as any BinaryInteger: .number(JSONNumber(number))
            default: nil
            }
        }
        return values.isEmpty || values.count < type.allCases.count ? nil : .oneOf(values)
    }

    /// Returns a value of such a type, or a sample.
    func value<Value: Decodable>(of type: Value.Type) -> Value? {
        if let sample = samples[ObjectIdentifier(type)] as? Value {
            return sample
        }
        switch type {
        case is URL.Type: return URL(string: "http://localhost") as? Value
        case is UUID.Type: return UUID() as? Value
        case is Decimal.Type: return Decimal(0) as? Value
        case is Date.Type: return Date() as? Value
        case is Data.Type: return Data() as? Value
        // Optionals and collections are empty, because they may be recursive.
        case let type as any ExpressibleByNilLiteral.Type: return type.init(nilLiteral: ()) as? Value
        case let type as any RangeReplaceableCollection.Type: return type.init() as? Value
        case let type as any SetAlgebra.Type: return type.init() as? Value
        case let type as any CaseIterable.Type: return Self.firstCase(of: type) as? Value
        default: return nil
        }
    }

    private static func firstCase<Value: CaseIterable>(of type: Value.Type) -> Any? {
        type.allCases.first
    }
}
