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
    /// Creates a number from a type narrower than `Double`, with the fewest digits that read back as the same value.
    init<Number: BinaryFloatingPoint & CustomStringConvertible>(shortest value: Number) {
        // The description has the fewest digits, but is "1.0" for 1 and "1e+20" for 1e20. A `Double` with the same
        // value is written without these.
        guard value.isFinite, let read = Double(value.description), Double(value) != read else {
            self = .double(Double(value))
            return
        }
        self = .double(read)
    }
}
