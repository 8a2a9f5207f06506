/// Header fields in order. Names are compared case-insensitively (RFC 9110, 5.1), and a name may occur several times.
///
/// Values are bytes. A String is a view of them: see ``bytes(_:)`` for values that are not UTF-8.
///
///     var headers: Headers = ["Accept": "application/json"]
///     headers["X-Trace"] = "7f"
public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
    private enum Storage: Sendable {
        case fields([Field])
        // One reference, because headers are copied with their request and few withhold a name.
        case withholding(Withholding)
        // A received head stays in its original memory; strings are created only for the fields that are read.
        case received(any ResponseStorage)
    }

    private final class Withholding: Sendable {
        let fields: [Field]
        let names: [String]

        init(_ fields: [Field], _ names: [String]) {
            self.fields = fields
            self.names = names
        }
    }

    private var storage: Storage

    /// The fields, unless they were received.
    private var listed: [Field]? {
        switch storage {
        case .fields(let fields): fields
        case .withholding(let own): own.fields
        case .received: nil
        }
    }

    /// All fields, in order.
    var list: [Field] { listed ?? Array(self) }

    /// The names that were set to `nil`: the agent adds no field with these names.
    private var withheld: [String] {
        if case .withholding(let own) = storage { own.names } else { [] }
    }

    /// Creates headers with these fields, in this order.
    public init(_ fields: [Field] = []) {
        storage = .fields(fields)
    }

    /// Creates headers in the literal's order; a repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }

    private init(_ fields: [Field], withholding names: [String]) {
        storage = names.isEmpty ? .fields(fields) : .withholding(Withholding(fields, names))
    }

    init(received: any ResponseStorage) {
        storage = .received(received)
    }

    /// The first value with this name. Setting it replaces every field with the name by one, at the first one's
    /// position. Setting `nil` removes them, and then the agent adds no field with the name either.
    public subscript(name: String) -> String? {
        get {
            content(name)?.text
        }
        set {
            replace(name, by: newValue.map { Field(name: name, value: $0) })
        }
    }

    /// Returns the first value with this name.
    func content(_ name: String) -> ByteText? {
        if case .received(let received) = storage {
            return received.headerContent(named: name)
        }
        return listed?.first { $0.name.isEqualIgnoringASCIICase(to: name) }?.content
    }

    /// Replaces every field with the same name by this one, at the first one's position.
    public mutating func set(_ field: Field) {
        replace(field.name, by: field)
    }

    private mutating func replace(_ name: String, by field: Field?) {
        var fields = Array(self)
        var withheld = withheld
        let place = fields.firstIndex { $0.name.isEqualIgnoringASCIICase(to: name) }
        fields.removeAll { $0.name.isEqualIgnoringASCIICase(to: name) }
        withheld.removeAll { $0.isEqualIgnoringASCIICase(to: name) }
        if let field {
            fields.insert(field, at: place ?? fields.count)
        } else {
            withheld.append(name)
        }
        self = Headers(fields, withholding: withheld)
    }

    /// Returns every value with this name, in order.
    public func values(named name: String) -> [String] { only([name]).map(\.value) }

    /// Returns the fields with these names, in order. Allocates nothing if there are none, the usual case.
    func only(_ names: [String]) -> [Field] {
        guard let fields = listed else { return filter { $0.isOne(of: names) } }
        guard let first = fields.indices.first(where: { fields[$0].isOne(of: names) }) else { return [] }
        return fields[first...].filter { $0.isOne(of: names) }
    }

    /// Returns true if there is a field with one of these names.
    func hasAny(_ names: [String]) -> Bool {
        guard let fields = listed else { return contains { $0.isOne(of: names) } }
        for field in fields {
            for name in names where field.name.isEqualIgnoringASCIICase(to: name) {
                return true
            }
        }
        return false
    }

    /// Adds a field at the end, even if its name occurs already.
    public mutating func append(name: String, value: String) {
        append(Field(name: name, value: value))
    }

    /// Adds a field at the end, even if its name occurs already.
    public mutating func append(_ field: Field) {
        self = Headers(Array(self) + [field], withholding: withheld)
    }

    /// Returns these fields, and those of `other` whose names neither occur here nor were set to `nil`.
    func filled(from other: Headers) -> Headers {
        if other.isEmpty {
            return self
        }
        if isEmpty && withheld.isEmpty && other.withheld.isEmpty {
            return other  // Most requests have no own fields: no copy.
        }
        let missing = other.filter { candidate in
            !contains { $0.name.isEqualIgnoringASCIICase(to: candidate.name) }
                && !withheld.contains { $0.isEqualIgnoringASCIICase(to: candidate.name) }
        }
        return Headers(Array(self) + missing, withholding: withheld)
    }
}

extension Headers: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }

    /// The number of fields.
    public var endIndex: Int {
        switch storage {
        case .fields(let fields): fields.count
        case .withholding(let own): own.fields.count
        case .received(let received): received.headerCount
        }
    }

    /// The field at `position`, in the order of sending or arrival.
    public subscript(position: Int) -> Field {
        switch storage {
        case .fields(let fields): fields[position]
        case .withholding(let own): own.fields[position]
        case .received(let received): received.headerField(at: position)
        }
    }
}

extension Headers: Equatable {
    /// Returns true for the same fields in the same order. Names are compared case-insensitively, values by their
    /// bytes.
    public static func == (left: Headers, right: Headers) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy {
                $0.name.isEqualIgnoringASCIICase(to: $1.name) && $0.content == $1.content
            }
    }
}

extension String {
    /// Compares names of fields and charsets, independent of the locale.
    func isEqualIgnoringASCIICase(to other: String) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
        return utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { lowered($0) == lowered($1) }
    }
}
