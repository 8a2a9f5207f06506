extension JSONShape {
    /// A shape that also accepts null.
    public var orNull: JSONShape {
        fault == nil ? JSONShape(ShapeParts(tree).nullable.tree) : self
    }

    /// A shape for objects that have no members other than the listed ones. This shape must list the members of an
    /// object.
    public var closed: JSONShape {
        guard fault == nil, case .object(let members) = tree else {
            return JSONShape(tree, fault: fault ?? "only an object that lists its members can be closed")
        }
        let others = members.filter { $0.name != "$closed" }
        return JSONShape(.object([.init(name: "$closed", value: true)] + others))
    }

    /// Returns a shape that accepts the values of both shapes.
    ///
    /// Both shapes may limit values, but not values of the same type. A shape has only one list of members for objects,
    /// one element shape for arrays, and one range for numbers.
    public func or(_ other: JSONShape) -> JSONShape {
        if let fault = fault ?? other.fault {
            return JSONShape(tree, fault: fault)
        }
        let (left, right) = (ShapeParts(tree), ShapeParts(other.tree))
        if left.isAny || right.isAny {
            return .any
        }
        guard let both = left.union(right) else {
            return JSONShape(
                tree, fault: "\(tree) and \(other.tree) limit the same type in two ways, which a shape cannot express")
        }
        return JSONShape(both.tree)
    }
}

/// A shape document, split into the accepted types and their limits.
private struct ShapeParts {
    private static let kinds: [(type: String, directives: Set<String>)] = [
        ("object", ["$closed"]), ("array", ["$items", "$minItems", "$maxItems"]),
        ("string", ["$minLength", "$maxLength"]), ("number", ["$min", "$max"]),
    ]

    /// The accepted types, without "null".
    var types: [String] = []
    var allowsNull = false
    /// The values of `$enum`; `nil` if there is none.
    var values: [JSONValue]?
    /// All members of the document except `$type` and `$enum`.
    var limits: [JSONValue.Member] = []

    init(_ tree: JSONValue) {
        switch tree {
        case .string(let words): takeTypes(words)
        case .array(let elements):
            types = ["array"]
            limits = elements.map { .init(name: "$items", value: $0) }
        case .object(let members):
            limits = members.filter { $0.name != "$type" && $0.name != "$enum" }
            values = tree["$enum"]?.array
            if let words = tree["$type"]?.string {
                takeTypes(words)
            } else {
                types = Self.kinds.map(\.type).filter { type in limits.contains { Self.type(of: $0.name) == type } }
                if types.isEmpty && values == nil {
                    types = ["object"]
                }
            }
        default: break
        }
    }

    private mutating func takeTypes(_ words: String) {
        allowsNull = words.hasSuffix("?")
        let names = (allowsNull ? words.dropLast() : words[...]).split(separator: "|").map(String.init)
        allowsNull = allowsNull || names.contains("null")
        types = names.filter { $0 != "null" }
    }

    /// Returns the type of values that a directive or a member applies to.
    private static func type(of name: String) -> String {
        if let kind = kinds.first(where: { $0.directives.contains(name) }) {
            return kind.type
        }
        return "object"
    }

    var isAny: Bool { types.contains("any") && limits.isEmpty && values == nil }

    var nullable: ShapeParts {
        var parts = self
        if let values, !values.contains(.null) {
            parts.values = values + [.null]
        }
        parts.allowsNull = true
        return parts
    }

    func union(_ other: ShapeParts) -> ShapeParts? {
        var both = self
        both.allowsNull = allowsNull || other.allowsNull
        switch (values, other.values) {
        case (nil, nil): break
        case (let mine?, let others?):
            both.values = mine + others.filter { !mine.contains($0) }
        case (let one?, nil) where other.types.isEmpty && other.limits.isEmpty:
            return ShapeParts(.object([.init(name: "$enum", value: .array(one))])).nullable
        case (nil, let one?) where types.isEmpty && limits.isEmpty:
            return ShapeParts(.object([.init(name: "$enum", value: .array(one))])).nullable
        default: return nil
        }
        for type in Self.kinds.map(\.type) where appliesTo(type) && other.appliesTo(type) {
            if Set(limits(of: type)) != Set(other.limits(of: type)) {
                return nil
            }
        }
        both.types += other.types.filter { !types.contains($0) }
        both.limits += other.limits.filter { !limits.contains($0) }
        return both
    }

    private func appliesTo(_ type: String) -> Bool {
        types.contains(type) || types.contains("any") || (type == "number" && types.contains("integer"))
    }

    private func limits(of type: String) -> [JSONValue.Member] {
        limits.filter { Self.type(of: $0.name) == type }
    }

    /// The document in its shortest form.
    var tree: JSONValue {
        var words = types.joined(separator: "|")
        if allowsNull {
            words = types.isEmpty ? "null" : words + "?"
        }
        if let values {
            return .object([.init(name: "$enum", value: .array(values))])
        }
        if limits.isEmpty {
            return .string(words)
        }
        if words == "array", limits.map(\.name) == ["$items"] {
            return .array(limits.map(\.value))
        }
        if words == "object" {
            return .object(limits)
        }
        return .object([.init(name: "$type", value: .string(words))] + limits)
    }
}
