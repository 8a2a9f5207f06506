/// The parameters of a request's query or body: a value, or named values in order, nested to any depth.
///
///     let search: Parameters = ["q": "swift", "page": 1, "tags": ["a", "b"], "near": ["lat": 59.9, "lon": 10.7]]
///     let person = try Parameters(encoding: Person(name: "bang"))
///     var more: Parameters = ["city": .init(city)]
///     more["sort"] = "name"
///
/// ``QueryEncoding`` and all body formats write the same tree. Thread-safe.
public enum Parameters: Sendable, Hashable {
    /// No value: a bare key in a query.
    case null
    /// A boolean.
    case boolean(Bool)
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number. Writing a non-finite one is an error.
    case double(Double)
    /// A number as decimal digits, such as one of more than 64 bits. Writing text that is not a JSON number is an
    /// error.
    case number(String)
    /// A string.
    case string(String)
    /// Bytes without a charset.
    case bytes([UInt8])
    /// Named values in order. A name may occur several times.
    case object([Field])
    /// Values in order.
    case array([Parameters])
    /// Values without an order. A query repeats their bare key and sorts them.
    case set(Set<Parameters>)

    /// A named value.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: Parameters

        /// Creates a named value.
        public init(name: String, value: Parameters) {
            self.name = name
            self.value = value
        }
    }
}

extension Parameters {
    /// Creates a string.
    public init(_ text: some StringProtocol) {
        self = .string(String(text))
    }

    /// Creates a boolean.
    public init(_ value: Bool) {
        self = .boolean(value)
    }

    /// Creates an integer with all its digits.
    public init(_ value: some BinaryInteger) {
        self = Int64(exactly: value).map(Parameters.integer) ?? .number(String(value))
    }

    /// Creates a number.
    public init(_ value: Double) {
        self = .double(value)
    }

    /// Creates a number with the fewest digits that read back as the same `Float`.
    public init(_ value: Float) {
        self = Parameters(shortest: value)
    }

    /// Creates a copy, or null for `nil`.
    public init(_ value: Parameters?) {
        self = value ?? .null
    }

    /// Creates an array.
    public init(_ values: some Sequence<Parameters>) {
        self = .array(Array(values))
    }

    /// Creates an object.
    public init(_ fields: some Sequence<Field>) {
        self = .object(Array(fields))
    }
}

extension Parameters {
    /// The fields of an object; empty for other values.
    public var fields: [Field] {
        guard case .object(let fields) = self else { return [] }
        return fields
    }

    /// Whether it is an object, an array or a set without elements.
    public var isEmpty: Bool {
        switch self {
        case .object(let fields): fields.isEmpty
        case .array(let values): values.isEmpty
        case .set(let values): values.isEmpty
        default: false
        }
    }

    /// Returns whether a field at any depth has a name for which `isWanted` returns true.
    func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .object(let fields): fields.contains { isWanted($0.name) || $0.value.holdsField(isWanted) }
        case .array(let values): values.contains { $0.holdsField(isWanted) }
        case .set(let values): values.contains { $0.holdsField(isWanted) }
        default: false
        }
    }

    /// The first value of this name. `nil` if there is none, or if this is not an object.
    ///
    /// Setting a value replaces all values of the name, at the position of the first. Setting `nil` removes them;
    /// ``Parameters/null`` does not. A value that is not an object becomes one.
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

    /// Appends a field, even if the name exists. A value that is not an object becomes one.
    public mutating func append(name: String, value: Parameters) {
        var fields = fields
        self = .null
        fields.append(Field(name: name, value: value))
        self = .object(fields)
    }
}
