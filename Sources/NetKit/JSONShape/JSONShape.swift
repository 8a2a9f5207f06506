#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The shape that a JSON text must have, written as literals or read from a shape document.
///
///     let city: JSONShape = ["id": .integer, "tags": [.string], "note?": .string.orNull]
///     let request = Request<[City]>("cities").expecting([city])
///
/// - An object literal lists the members of an object. Other members are ignored, unless the object is ``closed``.
/// - A member whose name ends in `?` is optional. A `?` that is part of the name is written `??`.
/// - A `$` at the beginning of a name is written `$$`.
/// - An array literal contains the shape of the elements. If it is empty, any elements are accepted.
/// - 1.0 is an integer, true is not a number, and names are case-sensitive.
///
/// Literals cannot throw. An invalid shape throws ``NetError/Code/badShape`` when it is first used, or from
/// ``check()``. A shape is compiled when it is first used, and copies share the result. Thread-safe.
public struct JSONShape: Sendable {
    /// The shape document as a tree.
    let tree: JSONValue
    /// The reason why the shape is invalid; `nil` if it is valid.
    let fault: String?
    /// The storage of the compiled shape.
    let slot: any ShapeSlot

    init(_ tree: JSONValue, fault: String? = nil) {
        self.tree = tree
        self.fault = fault
        slot = makeShapeSlot()
    }

    init(_ tree: JSONValue, slot: any ShapeSlot) {
        self.tree = tree
        fault = nil
        self.slot = slot
    }

    /// The shape document, without white space.
    public var document: String { tree.description }
}

/// The storage of a compiled shape, which the C core allocates.
protocol ShapeSlot: AnyObject, Sendable {}

extension JSONShape {
    /// Any value.
    public static var any: JSONShape { JSONShape("any") }
    /// A string.
    public static var string: JSONShape { JSONShape("string") }
    /// A number. True and false are not numbers.
    public static var number: JSONShape { JSONShape("number") }
    /// A number without a fraction, such as 1, 1.0 or 1e2.
    public static var integer: JSONShape { JSONShape("integer") }
    /// True or false.
    public static var boolean: JSONShape { JSONShape("boolean") }
    /// Null.
    public static var null: JSONShape { JSONShape("null") }
    /// Any object.
    public static var object: JSONShape { JSONShape("object") }
    /// Any array.
    public static var array: JSONShape { JSONShape("array") }

    /// A string whose length in code points is in a range.
    public static func string(minLength: Int? = nil, maxLength: Int? = nil) -> JSONShape {
        limited("string", ("$minLength", count(minLength)), ("$maxLength", count(maxLength)))
    }

    /// A number in a range. The bounds are compared exactly.
    public static func number(min: JSONNumber? = nil, max: JSONNumber? = nil) -> JSONShape {
        limited("number", ("$min", min.map(JSONValue.number)), ("$max", max.map(JSONValue.number)))
    }

    /// An integer in a range. The bounds are compared exactly.
    public static func integer(min: JSONNumber? = nil, max: JSONNumber? = nil) -> JSONShape {
        limited("integer", ("$min", min.map(JSONValue.number)), ("$max", max.map(JSONValue.number)))
    }

    /// An object with these members. Use it where a literal needs a type: `.object(["id": .integer]).closed`.
    public static func object(_ members: KeyValuePairs<String, JSONShape>) -> JSONShape {
        JSONShape(members.map { ($0.key, $0.value) })
    }

    /// An array whose elements have this shape, and whose number of elements is in a range.
    public static func array(of element: JSONShape, minItems: Int? = nil, maxItems: Int? = nil) -> JSONShape {
        let shape = limited(
            "array", ("$items", element.tree), ("$minItems", count(minItems)), ("$maxItems", count(maxItems)))
        return JSONShape(shape.tree, fault: element.fault)
    }

    /// One of these strings, numbers, booleans or null. Numbers are compared by value, so that 1 matches 1.0.
    public static func oneOf(_ values: [JSONValue]) -> JSONShape {
        JSONShape(["$enum": .array(values)])
    }

    private static func limited(_ type: String, _ limits: (String, JSONValue?)...) -> JSONShape {
        let members = limits.compactMap { name, value in value.map { JSONValue.Member(name: name, value: $0) } }
        return JSONShape(
            members.isEmpty ? .string(type) : .object([.init(name: "$type", value: .string(type))] + members))
    }

    private static func count(_ value: Int?) -> JSONValue? {
        value.map { .number(JSONNumber($0)) }
    }
}

extension JSONShape: ExpressibleByDictionaryLiteral {
    /// An object with these members.
    public init(dictionaryLiteral elements: (String, JSONShape)...) {
        self.init(elements)
    }

    fileprivate init(_ members: [(String, JSONShape)]) {
        self.init(
            .object(members.map { JSONValue.Member(name: $0.0, value: $0.1.tree) }),
            fault: members.lazy.compactMap(\.1.fault).first)
    }
}

extension JSONShape: ExpressibleByArrayLiteral {
    /// An array whose elements have this shape. If the literal is empty, any elements are accepted. A literal with more
    /// than one element is invalid.
    public init(arrayLiteral elements: JSONShape...) {
        self.init(.array(elements.map(\.tree)), fault: elements.lazy.compactMap(\.fault).first)
    }
}

extension JSONShape: Equatable {
    /// Returns true if both shapes have the same document.
    public static func == (left: JSONShape, right: JSONShape) -> Bool {
        left.tree == right.tree && left.fault == right.fault
    }
}

extension JSONShape {
    /// Derives the shape of the JSON that a type can decode. For this, the type decodes generated values.
    ///
    ///     let shape = try JSONShape(for: [City].self)
    ///
    /// - A member that the type decodes is required, with its type.
    /// - A member that the type decodes only if it is present may be absent or null.
    /// - An enumeration with raw values that is `CaseIterable` accepts only the raw values of its cases.
    ///
    /// The shape accepts everything that the type can decode. If that cannot be found out, the shape is `any`. That
    /// applies to recursive types, to the values of dictionaries, and to types that try several decodings.
    ///
    /// Throws ``NetError/Code/badShape`` for a type that cannot be decoded from zeros and empty strings, such as an
    /// enumeration with associated values or without `CaseIterable`. Throws the same error for a decoder that converts
    /// names.
    /// - Parameters:
    ///   - type: the type that will be decoded.
    ///   - decoder: the decoder. Its strategies determine how dates and data are written. If `nil`, the default
    ///     ``JSONCoding`` applies: dates are ISO 8601 text.
    ///   - samples: values of types for which no value can be generated.
    public init<Value: Decodable>(
        for type: Value.Type, decoder: JSONDecoder? = nil, samples: [any Decodable & Sendable] = []
    ) throws(NetError) {
        do {
            self = try ShapeProbe(ShapeStrategies(decoder, samples: samples)).shape(of: type)
        } catch {
            let reason = (error as? ShapeDerivationError)?.message ?? "\(error)"
            throw NetError(.badShape, "no shape can be derived for \(type): \(reason)", underlying: error)
        }
    }
}
