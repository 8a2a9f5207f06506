/// What a JSON text has to look like: a value, made of literals or from a shape document.
///
///     let city: JSONShape = ["id": .integer, "tags": [.string], "note?": .string.orNull]
///     let request = Request<[City]>("cities").expecting([city])
///
/// An object lists its members; one whose name ends in `?` may be absent, `??` stands for a literal `?`, and a member
/// whose own name begins with `$` is written with two. Others are ignored, unless the object is ``closed``. An empty
/// array is any array. 1.0 is an integer, true is no number, names compare exactly.
///
/// Literals cannot fail: one that no document can say throws ``NetError/Code/badShape`` where it is first used, or from
/// ``check()``. A shape is compiled once, at its first use, and copies share what was compiled. Thread-safe.
public struct JSONShape: Sendable {
    /// The document, as a tree.
    let tree: JSONValue
    /// Why there is no such document.
    let fault: String?
    /// Where the compiled shape is kept.
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

/// Where a shape's compiled form is kept, in the C core's memory.
protocol ShapeSlot: AnyObject, Sendable {}

extension JSONShape {
    /// Anything.
    public static var any: JSONShape { JSONShape("any") }
    /// Text.
    public static var string: JSONShape { JSONShape("string") }
    /// A number; true and false are none.
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

    /// Text of so many characters (code points).
    public static func string(minLength: Int? = nil, maxLength: Int? = nil) -> JSONShape {
        limited("string", ("$minLength", count(minLength)), ("$maxLength", count(maxLength)))
    }

    /// A number between these, which are compared exactly.
    public static func number(min: JSONNumber? = nil, max: JSONNumber? = nil) -> JSONShape {
        limited("number", ("$min", min.map(JSONValue.number)), ("$max", max.map(JSONValue.number)))
    }

    /// An integer between these, which are compared exactly.
    public static func integer(min: JSONNumber? = nil, max: JSONNumber? = nil) -> JSONShape {
        limited("integer", ("$min", min.map(JSONValue.number)), ("$max", max.map(JSONValue.number)))
    }

    /// An object with these members, for a shape that goes on: `.object(["id": .integer]).closed`.
    public static func object(_ members: KeyValuePairs<String, JSONShape>) -> JSONShape {
        JSONShape(members.map { ($0.key, $0.value) })
    }

    /// An array of so many such elements.
    public static func array(of element: JSONShape, minItems: Int? = nil, maxItems: Int? = nil) -> JSONShape {
        let shape = limited(
            "array", ("$items", element.tree), ("$minItems", count(minItems)), ("$maxItems", count(maxItems)))
        return JSONShape(shape.tree, fault: element.fault)
    }

    /// One of these strings, numbers, booleans and null; numbers are equal by value.
    public static func oneOf(_ values: JSONValue...) -> JSONShape {
        oneOf(values)
    }

    /// One of these strings, numbers, booleans and null; numbers are equal by value.
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
    /// An array of such elements; of any when there is none. More than one is a fault.
    public init(arrayLiteral elements: JSONShape...) {
        self.init(.array(elements.map(\.tree)), fault: elements.lazy.compactMap(\.fault).first)
    }
}

extension JSONShape: Equatable {
    /// The same document.
    public static func == (left: JSONShape, right: JSONShape) -> Bool {
        left.tree == right.tree && left.fault == right.fault
    }
}
