/// Access to parts of a tree. A missing part is `nil`:
///
///     let name = tree["cities"][0]["name"].string ?? ""
extension JSONValue {
    /// The boolean, or `nil` for other values.
    public var bool: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The number, or `nil` for other values.
    public var number: JSONNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number as an integer, or `nil` for other values.
    public var int: Int? { number?.integer }

    /// The number as a `Double`, or `nil` for other values; see ``JSONNumber/double``.
    public var double: Double? { number?.double }

    /// The string, or `nil` for other values.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements of an array, or `nil` for other values.
    public var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The members of an object, or `nil` for other values.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value of the last member with this name. Names are compared byte by byte. `nil` if there is no such member,
    /// or if this value is not an object.
    public subscript(name: String) -> JSONValue? {
        members?.last { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// An element of an array. `nil` if the index is out of range, or if this value is not an array.
    public subscript(index: Int) -> JSONValue? {
        guard let array, array.indices.contains(index) else { return nil }
        return array[index]
    }
}

extension JSONValue? {
    /// The value of the last member with this name; `nil` if there is none.
    public subscript(name: String) -> JSONValue? { self?[name] }

    /// An element of an array; `nil` if there is none.
    public subscript(index: Int) -> JSONValue? { self?[index] }

    /// The boolean, or `nil` for other values.
    public var bool: Bool? { self?.bool }

    /// The number, or `nil` for other values.
    public var number: JSONNumber? { self?.number }

    /// The number as an integer, or `nil` for other values.
    public var int: Int? { self?.int }

    /// The number as a `Double`, or `nil` for other values.
    public var double: Double? { self?.double }

    /// The string, or `nil` for other values.
    public var string: String? { self?.string }

    /// The elements of an array, or `nil` for other values.
    public var array: [JSONValue]? { self?.array }

    /// The members of an object, or `nil` for other values.
    public var members: [JSONValue.Member]? { self?.members }
}
