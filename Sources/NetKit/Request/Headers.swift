/// Header fields in order, with names compared without case (RFC 9110, 5.1). A name may occur several times.
///
///     var headers: Headers = ["Accept": "application/json"]
///     headers["X-Trace"] = "7f"
public struct Headers: Sendable, ExpressibleByDictionaryLiteral {
    /// One field.
    public struct Field: Sendable, Hashable {
        /// The name as it was spelled.
        public var name: String
        /// The value, without the white space around it.
        public var value: String

        /// A field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private enum Storage: Sendable {
        case fields([Field])
        // A received head stays in the memory it arrived in; strings are made for the fields that are asked for.
        case received(any ResponseStorage)
    }

    private var storage: Storage

    /// No field, or these, in this order.
    public init(_ fields: [Field] = []) {
        storage = .fields(fields)
    }

    /// Fields in the literal's order; a repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, String)...) {
        storage = .fields(elements.map { Field(name: $0.0, value: $0.1) })
    }

    init(received: any ResponseStorage) {
        storage = .received(received)
    }

    /// The first value of this name. Setting replaces every field of the name by one, in the first one's place;
    /// nil removes them.
    public subscript(name: String) -> String? {
        get {
            switch storage {
            case .fields(let fields):
                fields.first { $0.name.isEqualIgnoringASCIICase(to: name) }?.value
            case .received(let received):
                received.headerValue(named: name)
            }
        }
        set {
            var fields = Array(self)
            let place = fields.firstIndex { $0.name.isEqualIgnoringASCIICase(to: name) }
            fields.removeAll { $0.name.isEqualIgnoringASCIICase(to: name) }
            if let newValue {
                fields.insert(Field(name: name, value: newValue), at: place ?? fields.count)
            }
            storage = .fields(fields)
        }
    }

    /// Every value of this name, in order.
    public func values(named name: String) -> [String] {
        filter { $0.name.isEqualIgnoringASCIICase(to: name) }.map(\.value)
    }

    /// Adds a field at the end, whatever is there of its name.
    public mutating func append(name: String, value: String) {
        var fields = Array(self)
        fields.append(Field(name: name, value: value))
        storage = .fields(fields)
    }

    /// These fields, and those of `other` whose names do not occur here.
    func filled(from other: Headers) -> Headers {
        if other.isEmpty {
            return self
        }
        let missing = other.filter { candidate in !contains { $0.name.isEqualIgnoringASCIICase(to: candidate.name) } }
        return Headers(Array(self) + missing)
    }
}

extension Headers: RandomAccessCollection {
    /// 0.
    public var startIndex: Int { 0 }

    /// The number of fields.
    public var endIndex: Int {
        switch storage {
        case .fields(let fields): fields.count
        case .received(let received): received.headerCount
        }
    }

    /// The field at `position`, in the order of sending or arrival.
    public subscript(position: Int) -> Field {
        switch storage {
        case .fields(let fields): fields[position]
        case .received(let received): received.headerField(at: position)
        }
    }
}

extension Headers: Equatable {
    /// The same fields in the same order, names compared without case.
    public static func == (left: Headers, right: Headers) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy {
                $0.name.isEqualIgnoringASCIICase(to: $1.name) && $0.value == $1.value
            }
    }
}

extension String {
    /// Names of fields and charsets compare this way, whatever the locale.
    func isEqualIgnoringASCIICase(to other: String) -> Bool {
        func lowered(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }
        return utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { lowered($0) == lowered($1) }
    }
}
