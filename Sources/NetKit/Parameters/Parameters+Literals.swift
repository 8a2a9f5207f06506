extension Parameters: ExpressibleByDictionaryLiteral {
    /// Fields in the literal's order; a repeated name gives several fields.
    public init(dictionaryLiteral elements: (String, Parameters)...) {
        self = .object(elements.map { Field(name: $0.0, value: $0.1) })
    }
}

extension Parameters: ExpressibleByArrayLiteral {
    /// Values in order.
    public init(arrayLiteral elements: Parameters...) {
        self = .array(elements)
    }
}

extension Parameters: ExpressibleByStringInterpolation {
    /// Text.
    public init(stringLiteral value: String) {
        self = .string(value)
    }
}

extension Parameters: ExpressibleByIntegerLiteral {
    /// An integer.
    public init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension Parameters: ExpressibleByFloatLiteral {
    /// A number.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }
}

extension Parameters: ExpressibleByBooleanLiteral {
    /// True or false.
    public init(booleanLiteral value: Bool) {
        self = .boolean(value)
    }
}

extension Parameters: ExpressibleByNilLiteral {
    /// Null.
    public init(nilLiteral: ()) {
        self = .null
    }
}

extension Parameters {
    /// A number narrower than a `Double`, with the fewest digits that read back as the same one.
    init<Number: BinaryFloatingPoint & CustomStringConvertible>(shortest value: Number) {
        // Its own description has the fewest digits, but "1.0" for 1 and "1e+20" for 1e20; those of a Double that reads
        // back the same are asked for where there are no more of them.
        guard value.isFinite, let read = Double(value.description), Double(value) != read else {
            self = .double(Double(value))
            return
        }
        self = .double(read)
    }
}
