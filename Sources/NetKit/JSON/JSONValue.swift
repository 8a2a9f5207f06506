/// A JSON text as a tree: numbers with all of their digits, members in their order.
///
///     let value = try await agent.send(Request<JSONValue>("cities")).value
///     let name = value[0]?["name"]?.string
///     let exact = value[0]?["id"]?.number?.text
///
/// A name that occurs twice in an object is there twice; a look-up gives the last, as browsers do. A tree that was read
/// is at most 512 deep. Thread-safe.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number.
    case number(JSONNumber)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object([Member])

    /// A named value.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// What has it.
        public var value: JSONValue

        /// A named value.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

// Texts compare byte by byte (RFC 8259, 8.3), while to Swift the two spellings of "é" are equal.
extension JSONValue.Member {
    /// The same name and the same value.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
    }
}

extension JSONValue {
    /// The same value, its members in the same order, its texts and numbers written alike.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let one), .boolean(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.utf8.elementsEqual(other.utf8)
        case (.array(let ones), .array(let others)): ones == others
        case (.object(let ones), .object(let others)): ones == others
        default: false
        }
    }
}

extension JSONValue {
    /// Whether it is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// True or false; nil for anything else.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number; nil for anything else.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The text; nil for anything else.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil for what is no array.
    public var elements: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The members; nil for what is no object.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The last member of this name; names compare byte by byte. Nil when there is none, and for what is no object.
    public subscript(name: String) -> JSONValue? {
        members?.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// An element; nil out of range, and for what is no array.
    public subscript(index: Int) -> JSONValue? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value without members and elements that are null; what becomes empty stays, and so does a null by itself. Of
    /// several members of a name the last alone stays.
    public var removingNulls: JSONValue {
        switch self {
        case .array(let elements):
            .array(elements.lazy.filter { !$0.isNull }.map(\.removingNulls))
        case .object(let members):
            .object(
                members.lastOfEachName.filter { !$0.value.isNull }.map {
                    Member(name: $0.name, value: $0.value.removingNulls)
                })
        default: self
        }
    }

    /// The value with the last of several members of a name alone, at any depth.
    var withLastMembers: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withLastMembers))
        case .object(let members):
            .object(members.lastOfEachName.map { Member(name: $0.name, value: $0.value.withLastMembers) })
        default: self
        }
    }
}

extension [JSONValue.Member] {
    /// The last member of each name, in order.
    fileprivate var lastOfEachName: [JSONValue.Member] {
        var names = Set<[UInt8]>()
        let last = reversed().filter { names.insert([UInt8]($0.name.utf8)).inserted }
        return last.count == count ? self : last.reversed()
    }
}

// No literal nil: in an optional value it could mean either nothing or null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// True or false.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    /// An integer.
    public init(integerLiteral value: Int) {
        self = .number(JSONNumber(value))
    }

    /// A number.
    public init(floatLiteral value: Double) {
        self = .number(JSONNumber(floatLiteral: value))
    }

    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Values in order.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}
