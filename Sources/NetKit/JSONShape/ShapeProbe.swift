#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Finds what a type requests from a decoder, by letting it decode generated values and recording each request.
///
/// Each request is then tried again without a value and with a value of another type. The shape must allow what the
/// type tolerates.
final class ShapeProbe {
    /// How a request is manipulated, to test the type's reaction.
    enum Experiment: Equatable {
        case madeUp
        case missing
        case wrong
        /// The container has another kind.
        case otherContainer
        /// A string or a number that is unlikely to be a case of an enumeration.
        case strange
    }

    /// The requests to one container of the type.
    struct Questions {
        struct Member {
            let name: String
            /// `nil` until the type requests the value itself.
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
    /// The types that are being examined, outermost first. A recursive one may be anything.
    private var path: [ObjectIdentifier] = []
    private var known: [ObjectIdentifier: JSONShape] = [:]

    init(_ strategies: ShapeStrategies) {
        self.strategies = strategies
    }

    /// Returns the shape that a type decodes.
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

    /// Returns the shape of an optional or a list.
    private func composed(of type: any Decodable.Type) throws -> JSONShape? {
        if let type = type as? any DecodableOptional.Type {
            return try shape(of: type.wrapped).orNull
        }
        if let type = type as? any DecodableList.Type {
            return JSONShape(.array([try shape(of: type.element).tree]))
        }
        return nil
    }

    /// Returns the raw values of an enumeration that rejects unknown ones. Without a list of cases, or if it accepts
    /// any value, returns the type of the raw value.
    private func enumeration(_ type: any Decodable.Type) throws -> JSONShape? {
        guard type is any RawRepresentable.Type else { return nil }
        let decoder = ProbeDecoder(self, tampering: (nil, .strange))
        let takesAny = (try? type.init(from: decoder)) != nil
        let asked = decoder.questions.value
        guard asked.scalars.count == 1, !asked.isObject, !asked.isArray else { return nil }
        return takesAny ? asked.scalars[0] : ShapeStrategies.cases(of: type) ?? asked.scalars[0]
    }

    private func derived(from type: any Decodable.Type) throws -> JSONShape {
        let first = ProbeDecoder(self, tampering: nil)
        do {
            _ = try type.init(from: first)
        } catch let error as Underivable {
            throw error
        } catch {
            throw Underivable("\(type) does not decode from made-up values: \(error)")
        }
        var questions = first.questions.value
        let isScalar = !questions.isObject && !questions.isArray
        if try tolerates(type, isScalar ? .wrong : .otherContainer) {
            return .any
        }
        for index in questions.members.indices {
            let member = questions.members[index]
            questions.members[index].isOptional = try member.isOptional || tolerates(type, .missing, of: member.name)
            if try tolerates(type, .wrong, of: member.name) {
                questions.members[index].shape = .any
            }
        }
        return questions.shape
    }

    /// Whether the type still decodes if one request is manipulated.
    private func tolerates(
        _ type: any Decodable.Type, _ answer: Experiment, of member: String? = nil
    ) throws -> Bool {
        let decoder = ProbeDecoder(self, tampering: (member, answer))
        do {
            _ = try type.init(from: decoder)
            return true
        } catch let error as Underivable {
            throw error
        } catch {
            return false
        }
    }

    /// Returns a value of a type, and its shape.
    func value<Value: Decodable>(of type: Value.Type) throws -> (Value, JSONShape) {
        let shape = try shape(of: type)
        if let value = strategies.value(of: type) {
            return (value, shape)
        }
        if path.count > 100 || path.contains(ObjectIdentifier(type)) {
            throw Underivable("\(type) holds one of itself without a way out")
        }
        path.append(ObjectIdentifier(type))
        defer { path.removeLast() }
        return (try type.init(from: ProbeDecoder(self, tampering: nil)), shape)
    }
}

/// The reason for which no shape can be derived.
struct Underivable: Error {
    let message: String

    init(_ message: String) {
        self.message = message
    }
}

extension ShapeProbe.Questions {
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
                    let asked = member.shape ?? .any
                    let shape = member.isNullable && asked != .any ? asked.orNull : asked
                    let own = name.hasPrefix("$") ? "$" + name : name
                    return .init(name: own + (member.isOptional ? "?" : ""), value: shape.tree)
                }))
    }

    private var array: JSONShape {
        guard let first = elements.first, elements.allSatisfy({ $0 == first }) else { return .array }
        return JSONShape(.array([first.tree]))
    }

    mutating func ask(_ name: String, _ shape: JSONShape?, isOptional: Bool = false, isNullable: Bool = false) {
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
