extension Headers: CustomStringConvertible, CustomReflectable {
    /// The fields as a literal. Values that contain secrets are hidden, as in a ``RequestLog``.
    public var description: String {
        isEmpty ? "[:]" : "[\(map(\.description).joined(separator: ", "))]"
    }

    /// The fields with the same values hidden, so that `dump` shows no secrets either.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: map(\.description), displayStyle: .collection) }
}

extension Headers.Field: CustomStringConvertible, CustomReflectable {
    /// The quoted name and value. A value that contains a secret is hidden.
    public var description: String {
        "\(name.debugDescription): \(shownValue.debugDescription)".printable()
    }

    /// The name and the value, which is hidden if it contains a secret.
    public var customMirror: Mirror {
        Mirror(self, children: ["name": name, "value": shownValue], displayStyle: .struct)
    }

    private var shownValue: String { Redaction().hiding(Headers([self])).first?.value ?? "" }
}
