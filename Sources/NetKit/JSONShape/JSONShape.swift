/// The shape of a JSON text, written as literals or read from a shape document.
///
///     let city: JSONShape = ["id": .integer, "tags": [.string], "note?": .string.orNull]
///     let request = Request<[City]>("cities").expecting([city])
///
/// An object lists its members. A member whose name ends in `?` is optional; `??` denotes a literal `?`. A name that
/// begins with `$` is written with `$$`. Other members are ignored, unless the object is ``closed``. An empty array
/// literal is an array of any elements. 1.0 is an integer, true is not a number, and names are case-sensitive.
///
/// Literals cannot throw. A shape that no document can express throws ``NetError/Code/badShape`` at its first use, or
/// from ``check()``. A shape is compiled at its first use, and copies share the result. Thread-safe.
public struct JSONShape: Sendable {
    /// The document, as a tree.
    let tree: JSONValue
    /// Why the shape has no document.
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

/// The storage of a compiled shape, in the C core's memory.
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

    /// A string whose length, in code points, is in a range.
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

    /// An object with these members, for calls such as `.object(["id": .integer]).closed`.
    public static func object(_ members: KeyValuePairs<String, JSONShape>) -> JSONShape {
        JSONShape(members.map { ($0.key, $0.value) })
    }

    /// An array of such elements whose count is in a range.
    public static func array(of element: JSONShape, minItems: Int? = nil, maxItems: Int? = nil) -> JSONShape {
        let shape = limited(
            "array", ("$items", element.tree), ("$minItems", count(minItems)), ("$maxItems", count(maxItems)))
        return JSONShape(shape.tree, fault: element.fault)
    }

    /// One of these strings, numbers, booleans or null. Numbers compare by value.
    public static func oneOf(_ values: JSONValue...) -> JSONShape {
        oneOf(values)
    }

    /// One of these strings, numbers, booleans or null. Numbers compare by value.
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
    /// An array of such elements; of any elements if the literal is empty. More than one element is an error.
    public init(arrayLiteral elements: JSONShape...) {
        self.init(.array(elements.map(\.tree)), fault: elements.lazy.compactMap(\.fault).first)
    }
}

extension JSONShape: Equatable {
    /// Whether both have the same document.
    public static func == (left: JSONShape, right: JSONShape) -> Bool {
        left.tree == right.tree && left.fault == right.fault
    }
}
