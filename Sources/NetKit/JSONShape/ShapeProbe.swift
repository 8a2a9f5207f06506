#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds out which values a type requests from a decoder. For this, the type decodes generated values, and each request
/// is recorded.
///
/// Then each request is manipulated: once the value is missing, and once it has another type. If the type can still be
/// decoded, the shape must accept such JSON.
final class ShapeProbe {
    /// The manipulation of a request, which tests how a type reacts.
    enum Experiment: Equatable {
        /// The value is missing.
        case missing
        /// The value has the wrong type.
        case wrong
        /// The container has the wrong kind.
        case otherContainer
        /// The value is a string or a number that is unlikely to be a case of an enumeration.
        case strange
    }

    /// The requests that a type has made to a decoder.
    struct Requests {
        struct Member {
            let name: String
            /// The shape of the value; `nil` until the type requests it.
            var shape: JSONShape?
            var isOptional = false
            var isNullable = false
        }

        var members: [Member] = []
        var isObject = false
        var elements: [JSONShape] = []
        var isArray = false
        var scalars: [JSONShape] = []
        var isNullable = false
    }

    let strategies: ShapeStrategies
    /// The types that are being examined, outermost first. The shape of a type that contains itself is `any`.
    private var path: [ObjectIdentifier] = []
    private var known: [ObjectIdentifier: JSONShape] = [:]

    init(_ strategies: ShapeStrategies) {
        self.strategies = strategies
    }

    /// Returns the shape of the JSON that a type can decode.
    func shape(of type: any Decodable.Type) throws -> JSONShape {
        let identity = ObjectIdentifier(type)
        if let shape = strategies.shape(of: type) ?? known[identity] {
            return shape
        }
        if path.contains(identity) {
            return .any
        }
        path.append(identity)
        defer { path.removeLast() }
        let shape = try composed(of: type) ?? enumeration(type) ?? derived(from: type)
        known[identity] = shape
        return shape
    }

    /// Returns the shape of an optional or a collection; `nil` for other types.
    private func composed(of type: any Decodable.Type) throws -> JSONShape? {
        if let type = type as? any DecodableOptional.Type {
            return try shape(of: type.wrapped).orNull
        }
        if let type = type as? any DecodableList.Type {
            return JSONShape(.array([try shape(of: type.element).tree]))
        }
        return nil
    }

    /// Returns the shape of a type with raw values, such as an enumeration; `nil` for other types.
    ///
    /// The shape is a list of the raw values, if the type rejects other values and is `CaseIterable`. Otherwise it is
    /// the shape of any raw value.
    private func enumeration(_ type: any Decodable.Type) throws -> JSONShape? {
        guard type is any RawRepresentable.Type else { return nil }
        let decoder = ProbeDecoder(self, manipulation: (nil, .strange))
        let takesAny = (try? type.init(from: decoder)) != nil
        let requests = decoder.state.value
        guard requests.scalars.count == 1, !requests.isObject, !requests.isArray else { return nil }
        return takesAny ? requests.scalars[0] : ShapeStrategies.cases(of: type) ?? requests.scalars[0]
    }

    private func derived(from type: any Decodable.Type) throws -> JSONShape {
        let first = ProbeDecoder(self, manipulation: nil)
        do {
            _ = try type.init(from: first)
        } catch let error as ShapeDerivationError {
            throw error
        } catch {
            throw ShapeDerivationError("\(type) cannot be decoded from sample values: \(error)")
        }
        var requests = first.state.value
        let isScalar = !requests.isObject && !requests.isArray
        if try tolerates(type, isScalar ? .wrong : .otherContainer) {
            return .any
        }
        for index in requests.members.indices {
            let member = requests.members[index]
            requests.members[index].isOptional = try member.isOptional || tolerates(type, .missing, of: member.name)
            if try tolerates(type, .wrong, of: member.name) {
                requests.members[index].shape = .any
            }
        }
        return requests.shape
    }

    /// Returns true if the type can still be decoded after one request is manipulated.
    private func tolerates(
        _ type: any Decodable.Type, _ experiment: Experiment, of member: String? = nil
    ) throws -> Bool {
        let decoder = ProbeDecoder(self, manipulation: (member, experiment))
        do {
            _ = try type.init(from: decoder)
            return true
        } catch let error as ShapeDerivationError {
            throw error
        } catch {
            return false
        }
    }

    /// Returns a generated value of a type, and the shape of the type.
    func value<Value: Decodable>(of type: Value.Type) throws -> (Value, JSONShape) {
        let shape = try shape(of: type)
        if let value = strategies.value(of: type) {
            return (value, shape)
        }
        if path.count > 100 || path.contains(ObjectIdentifier(type)) {
            throw ShapeDerivationError("\(type) contains itself without an optional or a collection in between")
        }
        path.append(ObjectIdentifier(type))
        defer { path.removeLast() }
        return (try type.init(from: ProbeDecoder(self, manipulation: nil)), shape)
    }
}

/// The reason why no shape can be derived from a type.
struct ShapeDerivationError: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

extension ShapeProbe.Requests {
    var shape: JSONShape {
        let kinds = (isObject ? 1 : 0) + (isArray ? 1 : 0) + (scalars.isEmpty ? 0 : 1)
        guard kinds == 1 else { return .any }
        var shape: JSONShape
        if isObject {
            shape = object
        } else if isArray {
            shape = array
        } else {
            shape = scalars.dropFirst().allSatisfy { $0 == scalars[0] } ? scalars[0] : .any
        }
        if isNullable {
            shape = shape.orNull
        }
        return shape
    }

    private var object: JSONShape {
        if members.isEmpty {
            return .object
        }
        return JSONShape(
            .object(
                members.map { member in
                    let name = member.name.split(separator: "?", omittingEmptySubsequences: false).joined(
                        separator: "??")
                    let memberShape = member.shape ?? .any
                    let shape = member.isNullable && memberShape != .any ? memberShape.orNull : memberShape
                    let escapedName = name.hasPrefix("$") ? "$" + name : name
                    return .init(name: escapedName + (member.isOptional ? "?" : ""), value: shape.tree)
                }))
    }

    private var array: JSONShape {
        guard let first = elements.first, elements.allSatisfy({ $0 == first }) else { return .array }
        return JSONShape(.array([first.tree]))
    }

    mutating func record(_ name: String, _ shape: JSONShape?, isOptional: Bool = false, isNullable: Bool = false) {
        let known = members.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
        if known == nil {
            members.append(Member(name: name))
        }
        let index = known ?? members.count - 1
        if let shape {
            members[index].shape = members[index].shape ?? shape == shape ? shape : .any
        }
        members[index].isOptional = members[index].isOptional || isOptional
        members[index].isNullable = members[index].isNullable || isNullable
    }
}

/// An optional type.
private protocol DecodableOptional {
    static var wrapped: any Decodable.Type { get }
}

extension Optional: DecodableOptional where Wrapped: Decodable {
    fileprivate static var wrapped: any Decodable.Type { Wrapped.self }
}

/// A collection of values of one type.
private protocol DecodableList {
    static var element: any Decodable.Type { get }
}

extension Array: DecodableList where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
}

extension ContiguousArray: DecodableList where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
}

extension Set: DecodableList where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
}

/// The shapes and values of types that are not examined, such as numbers, dates and data. The strategies of the decoder
/// determine some of these shapes.
struct ShapeStrategies {
    let dates: JSONShape
    let data: JSONShape
    let floats: JSONShape
    /// Values of types for which no value can be generated.
    let samples: [ObjectIdentifier: any Decodable]

    /// - Parameter decoder: the decoder; `nil` for the default ``JSONCoding``.
    init(_ decoder: JSONDecoder?, samples: [any Decodable & Sendable]) throws {
        switch decoder?.keyDecodingStrategy {
        case .useDefaultKeys?, nil: break
        default:
            throw ShapeDerivationError("the decoder's key strategy changes names, so the names in the JSON are unknown")
        }
        switch decoder?.dateDecodingStrategy {
        case .deferredToDate?, .secondsSince1970?, .millisecondsSince1970?: dates = .number
        case .iso8601?, nil: dates = .string
        default: dates = .any
        }
        switch decoder?.dataDecodingStrategy {
        case .base64?, nil: data = .string
        case .deferredToData?: data = [.integer(min: 0, max: 255)]
        default: data = .any
        }
        switch decoder?.nonConformingFloatDecodingStrategy {
        case .throw?, nil: floats = .number
        default: floats = JSONShape.number.or(.string)
        }
        self.samples = Dictionary(
            samples.map { (ObjectIdentifier(type(of: $0)), $0 as any Decodable) },
            uniquingKeysWith: { first, _ in first })
    }

    /// Returns the shape of such a type; `nil` for other types.
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
        case is Data.Type, is Bytes.Type: data
        case is JSONValue.Type: .any
        default: nil
        }
    }

    /// Returns a shape that lists the raw values of a type. Returns `nil` if the type is not `CaseIterable`.
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

    /// Returns a sample of a type, or a generated value of a type that is not examined; `nil` for other types.
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
        case is Bytes.Type: return Bytes() as? Value
        case is JSONValue.Type: return JSONValue.null as? Value
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
