extension Headers: CustomStringConvertible, CustomReflectable {
    /// The fields as a literal; the values of those that hold secrets are hidden, as in a ``RequestLog``.
    public var description: String {
        isEmpty ? "[:]" : "[\(map(\.description).joined(separator: ", "))]"
    }

    /// The fields, with the same values hidden, so that `dump` tells no more.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection) }
}

extension Headers.Field: CustomStringConvertible, CustomReflectable {
    /// The name and the value, quoted; the value of one that holds a secret is hidden.
    public var description: String {
        "\(name.debugDescription): \(shownValue.debugDescription)".printable()
    }

    /// The name and the value, hidden if need be.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "value": shownValue], displayStyle: .struct)
    }

    private var shownValue: String { Redaction().hiding(Headers([self])).first?.value ?? "" }
}
