/// What a request says in its query or its body: a value, or named values in order, as deep as one likes.
///
///     let search: Parameters = ["q": "swift", "page": 1, "tags": ["a", "b"], "near": ["lat": 59.9, "lon": 10.7]]
///     let person = try Parameters(encoding: Person(name: "bang"))
///     var more: Parameters = ["city": .init(city)]
///     more["sort"] = "name"
///
/// It is written by ``QueryEncoding`` and by the makers of bodies, which all read the same tree. Thread-safe.
public enum Parameters: Sendable, Hashable {
    /// Nothing: a bare key in a query.
    case null
    /// True or false.
    case boolean(Bool)
    /// An integer of 64 bits.
    case integer(Int64)
    /// A floating-point number; one that is not finite is refused when it is written.
    case double(Double)
    /// A number as its decimal digits, such as one of more than 64 bits; what is no number in JSON is refused when it is
    /// written.
    case number(String)
    /// Text.
    case string(String)
    /// Bytes without a charset.
    case bytes([UInt8])
    /// Named values in order; a name may occur several times.
    case object([Field])
    /// Values in order.
    case array([Parameters])
    /// Values whose order means nothing; a query repeats their bare key and sorts them.
    case set(Set<Parameters>)

    /// A named value.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// What has it.
        public var value: Parameters

        /// A named value.
        public init(name: String, value: Parameters) {
            self.name = name
            self.value = value
        }
    }
}

extension Parameters {
    /// Text.
    public init(_ text: some StringProtocol) {
        self = .string(String(text))
    }

    /// True or false.
    public init(_ value: Bool) {
        self = .boolean(value)
    }

    /// An integer, with all of its digits.
    public init(_ value: some BinaryInteger) {
        self = Int64(exactly: value).map(Parameters.integer) ?? .number(String(value))
    }

    /// A number.
    public init(_ value: Double) {
        self = .double(value)
    }

    /// A number, with the fewest digits that read back as the same `Float`.
    public init(_ value: Float) {
        self = Parameters(shortest: value)
    }

    /// A value, or null for nil.
    public init(_ value: Parameters?) {
        self = value ?? .null
    }

    /// Values in order.
    public init(_ values: some Sequence<Parameters>) {
        self = .array(Array(values))
    }

    /// Named values in order.
    public init(_ fields: some Sequence<Field>) {
        self = .object(Array(fields))
    }
}

extension Parameters {
    /// The fields of an object; none of anything else.
    public var fields: [Field] {
        guard case .object(let fields) = self else { return [] }
        return fields
    }

    /// Whether it is an object, an array or a set that holds nothing.
    public var isEmpty: Bool {
        switch self {
        case .object(let fields): fields.isEmpty
        case .array(let values): values.isEmpty
        case .set(let values): values.isEmpty
        default: false
        }
    }

    /// Whether a field, however deep, has a name that is looked for.
    func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .object(let fields): fields.contains { isWanted($0.name) || $0.value.holdsField(isWanted) }
        case .array(let values): values.contains { $0.holdsField(isWanted) }
        case .set(let values): values.contains { $0.holdsField(isWanted) }
        default: false
        }
    }

    /// The first value of this name; nil when there is none, or when this is no object.
    ///
    /// Setting replaces every value of the name by one, in the first one's place; nil removes them, and
    /// ``Parameters/null`` does not. What is no object becomes one.
    public subscript(name: String) -> Parameters? {
        get { fields.first { $0.name == name }?.value }
        set {
            var fields = fields
            let place = fields.firstIndex { $0.name == name } ?? fields.count
            fields.removeAll { $0.name == name }
            if let newValue {
                fields.insert(Field(name: name, value: newValue), at: place)
            }
            self = .object(fields)
        }
    }

    /// Adds a field at the end, whatever is there of its name. What is no object becomes one.
    public mutating func append(name: String, value: Parameters) {
        var fields = fields
        self = .null
        fields.append(Field(name: name, value: value))
        self = .object(fields)
    }
}
