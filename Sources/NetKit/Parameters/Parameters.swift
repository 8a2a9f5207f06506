#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The parameters of a request, which are sent in its query or its body. They are a tree of named values, arrays and
/// single values.
///
///     let search: Parameters = ["q": "swift", "page": 1, "tags": ["a", "b"], "near": ["lat": 59.9, "lon": 10.7]]
///     let person = Parameters(Person(name: "bang"))
///     var more = Parameters(["city": city, "since": date])
///     more["page"] = .init(page)
///
/// A literal of this type consists of literals. For a variable in it, write `.init(variable)`. Calls that send
/// parameters, such as `agent.get`, also accept literals with variables (``ParameterList``), dictionaries and any
/// `Encodable` value.
///
/// ``QueryEncoding`` and all body formats accept the same tree. Thread-safe.
public enum Parameters: Sendable, Hashable {
    /// No value. In a query, only the key is written.
    case null
    /// A boolean.
    case boolean(Bool)
    /// A 64-bit integer.
    case integer(Int64)
    /// A floating-point number. Encoding a number that is not finite is an error.
    case double(Double)
    /// A number as text, for example one with more than 64 bits. Encoding text that is not a JSON number is an error.
    case number(String)
    /// A string.
    case string(String)
    /// A date. In JSON its form depends on ``JSONCoding/dates``. In a property list it is a date. Elsewhere it is text
    /// such as `2026-11-21T18:00:00Z` (RFC 3339).
    case date(Date)
    /// Bytes without a charset.
    case bytes([UInt8])
    /// Named values in order. A name may occur several times.
    case object([Field])
    /// Values in order.
    case array([Parameters])
    /// Values without an order. A query has the same key for each of them, without brackets, and sorts them.
    case set(Set<Parameters>)
    /// A value that could not be encoded, and the reason. Sending it throws ``NetError/Code/encoding``.
    case unencodable(String)

    /// A named value.
    public struct Field: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: Parameters
        /// Whether ``JSONCoding/keys`` applies to the name.
        var spelling = Spelling.given

        /// Creates a named value.
        public init(name: String, value: Parameters) {
            self.name = name
            self.value = value
        }

        /// The origin of a name. It has no influence on equality.
        enum Spelling: Hashable {
            /// The name is sent as it is.
            case given
            /// The name is a property of a type.
            case declared

            static func == (left: Self, right: Self) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
    }
}

extension Parameters {
    /// Creates a string.
    public init(_ text: some StringProtocol) {
        self = .string(String(text))
    }

    /// Creates parameters from any encodable value, such as a number, a date, an array, a dictionary or a structure.
    /// `nil` becomes ``null``.
    ///
    /// Fields keep the order in which the value encodes them; those of a dictionary are sorted. Integers and `Decimal`
    /// keep all digits, `Data` becomes base64 text, and a `Set` becomes ``set(_:)``. If the value cannot be encoded, the
    /// result is ``unencodable(_:)``. To get the error here, or another form, use ``init(encoding:by:)``.
    public init(_ value: (some Encodable)?) {
        guard let value else {
            self = .null
            return
        }
        do throws(NetError) {
            try self.init(encoding: value, by: .deferring)
        } catch {
            self = .unencodable(error.message)
        }
    }

    /// Creates an object from a dictionary literal with variables, in the literal's order.
    public init(_ list: ParameterList) {
        self = .object(list.fields)
    }

    /// Creates an object from a dictionary of encodable values of several types. The fields are sorted by name.
    @_disfavoredOverload
    public init(_ values: [String: any Encodable & Sendable]) {
        let fields = values.map { Field(name: $0.key, value: Parameters(any: $0.value)) }
        self = .object(fields.sorted { $0.name < $1.name })
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

    /// Whether the value is an object, an array or a set without elements.
    public var isEmpty: Bool {
        switch self {
        case .object(let fields): fields.isEmpty
        case .array(let values): values.isEmpty
        case .set(let values): values.isEmpty
        default: false
        }
    }

    /// Returns true if `isWanted` accepts the name of a field at any depth.
    func holdsField(_ isWanted: (String) -> Bool) -> Bool {
        switch self {
        case .object(let fields): fields.contains { isWanted($0.name) || $0.value.holdsField(isWanted) }
        case .array(let values): values.contains { $0.holdsField(isWanted) }
        case .set(let values): values.contains { $0.holdsField(isWanted) }
        default: false
        }
    }

    /// The first value with this name. `nil` if there is none, or if this value is not an object.
    ///
    /// Setting a value replaces all fields with the name by one field, at the position of the first. Setting `nil`
    /// removes these fields; setting ``Parameters/null`` does not. If this value is not an object, setting a field
    /// replaces it by an object.
    public subscript(name: String) -> Parameters? {
        get { fields.first { $0.name == name }?.value }
        set {
            var fields = fields
            let index = fields.firstIndex { $0.name == name } ?? fields.count
            fields.removeAll { $0.name == name }
            if let newValue {
                fields.insert(Field(name: name, value: newValue), at: index)
            }
            self = .object(fields)
        }
    }

    /// Appends a field, even if a field with this name exists. If this value is not an object, it is replaced by one.
    public mutating func append(name: String, value: Parameters) {
        var fields = fields
        self = .null
        fields.append(Field(name: name, value: value))
        self = .object(fields)
    }
}

extension Parameters: ExpressibleByDictionaryLiteral {
    /// Creates an object with fields in the literal's order. A repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        self = .object(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension Parameters: ExpressibleByArrayLiteral {
    /// Creates an array.
    public init(arrayLiteral elements: Parameters...) {
        self = .array(elements)
    }
}

extension Parameters: ExpressibleByStringInterpolation {
    /// Creates a string.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension Parameters: ExpressibleByIntegerLiteral {
    /// Creates an integer.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension Parameters: ExpressibleByFloatLiteral {
    /// Creates a number.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }
}

extension Parameters: ExpressibleByBooleanLiteral {
    /// Creates a boolean.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }
}

extension Parameters: ExpressibleByNilLiteral {
    /// Creates a null value.
    public init(nilLiteral: ()) {
        self = .null
    }
}

extension Parameters {
    /// Returns these fields, followed by the fields of `other` whose names do not occur here. A value that is not an
    /// object is returned unchanged.
    package func filled(from other: Parameters?) -> Parameters {
        guard case .object(let fields) = self, case .object(let otherFields) = other, !otherFields.isEmpty else {
            return self
        }
        let names = Set(fields.map(\.name))
        return .object(fields + otherFields.filter { !names.contains($0.name) })
    }

    /// Returns the fields whose names do not occur in the URL's query, or `nil` if there are none.
    func without(namesIn url: String) -> Parameters? {
        guard case .object(let fields) = self else { return self }
        let names = Set(url.queryPairs.map { $0.name.cut(atFirst: "[")?.before ?? $0.name })
        let remaining = fields.filter { !names.contains($0.name) }
        return remaining.isEmpty ? nil : .object(remaining)
    }

    /// Whether the value is an object.
    var hasFields: Bool {
        if case .object = self { true } else { false }
    }

    /// Throws if a value could not be encoded, or is a date that has no text.
    func checkEncodable() throws(NetError) {
        if let failure {
            let name = failure.path.dropLast().reversed().reduce(failure.path.last ?? "") { $0 + "[\($1)]" }
            throw NetError(.encoding, "\(name.isEmpty ? "the value" : "'\(name)'"): \(failure.reason)")
        }
    }

    /// The first value that cannot be encoded. Its path has the innermost name first.
    private var failure: (path: [String], reason: String)? {
        switch self {
        case .object(let fields):
            for field in fields {
                if let failure = field.value.failure {
                    return (failure.path + [field.name], failure.reason)
                }
            }
        case .array(let values):
            for (index, value) in values.enumerated() {
                if let failure = value.failure {
                    return (failure.path + [String(index)], failure.reason)
                }
            }
        case .set(let values): return values.lazy.compactMap(\.failure).first
        case .unencodable(let reason): return ([], reason)
        case .date(let date) where date.internetText == nil: return ([], Self.dateOutOfRange)
        default: break
        }
        return nil
    }

    /// Returns the value as JSON writes it: each set is an array in a fixed order.
    var withSortedSets: Parameters { containsSet ? sortingSets() : self }

    private var containsSet: Bool {
        switch self {
        case .object(let fields): fields.contains { $0.value.containsSet }
        case .array(let values): values.contains(where: \.containsSet)
        case .set: true
        default: false
        }
    }

    private func sortingSets() -> Parameters {
        switch self {
        case .object(let fields): .object(fields.map { $0.replacingValue(by: $0.value.sortingSets()) })
        case .array(let values): .array(values.map { $0.sortingSets() })
        case .set(let values): .array(ParameterNode.sorted(values.map { $0.sortingSets() }))
        default: self
        }
    }
}

extension Parameters.Field {
    func replacingValue(by value: Parameters) -> Self {
        var field = self
        field.value = value
        return field
    }
}
