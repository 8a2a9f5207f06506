/// A JSON text as a tree. Numbers keep all their digits, and members keep their order.
///
///     let value = try await agent.send(Request<JSONValue>("cities")).value
///     let name = value[0]?["name"]?.string
///     let exact = value[0]?["id"]?.number?.text
///
/// A name that occurs twice in an object has two members; a lookup returns the last, as browsers do. A parsed tree is
/// at most 512 levels deep. Thread-safe.
public indirect enum JSONValue: Sendable, Hashable {
    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number.
    case number(JSONNumber)
    /// A string.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Named values in order.
    case object([Member])

    /// A named value.
    public struct Member: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// Creates a member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}

// Strings compare byte by byte (RFC 8259, 8.3), while Swift treats both Unicode forms of "é" as equal.
extension JSONValue.Member {
    /// Whether names and values are equal.
    public static func == (left: Self, right: Self) -> Bool {
        left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
    }
}

extension JSONValue {
    /// Whether the values are equal, with their members in the same order and their numbers written identically.
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

    /// The boolean, or `nil` for other values.
    public var boolean: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number, or `nil` for other values.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The string, or `nil` for other values.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an array, or `nil` for other values.
    public var elements: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The members of an object, or `nil` for other values.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The last member of this name; names compare byte by byte. `nil` if there is none, or if this is not an object.
    public subscript(name: String) -> JSONValue? {
        members?.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// An element of an array. `nil` if the index is out of range, or if this is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard let elements, elements.indices.contains(index) else { return nil }
        return elements[index]
    }

    /// The value without null members and elements. Containers that become empty are kept, and so is a top-level null.
    /// Of several members of a name only the last is kept.
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

    /// The value with only the last of several members of a name, at any depth.
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

// No nil literal: for an optional value it could mean either `nil` or null.
extension JSONValue: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }

    /// Creates an integer.
    public init(integerLiteral value: Int) {
        self = .number(JSONNumber(value))
    }

    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = .number(JSONNumber(floatLiteral: value))
    }

    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) {
        self = .array(elements)
    }

    /// Creates an object with members in the literal's order.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(elements.map { Member(name: $0.0, value: $0.1) })
    }
}
