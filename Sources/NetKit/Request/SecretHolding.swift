/// A value that may contain secrets. Its description contains none, and `dump` shows nothing else.
package protocol SecretHolding: CustomStringConvertible, CustomReflectable {}

extension SecretHolding {
    /// The type's name.
    public var description: String { "\(Self.self)" }

    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: CollectionOfOne(description)) }
}

/// An object that is equal only to itself.
package protocol IdentityHashable: AnyObject, Hashable {}

extension IdentityHashable {
    /// Returns true if both are the same object.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes the identity of the object.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

/// A constant that is a text, such as a method. Its literal, its raw value and its description are the text.
package protocol TextConstant: RawRepresentable, ExpressibleByStringLiteral, CustomStringConvertible
where RawValue == String {
    init(rawValue: String)
}

extension TextConstant {
    /// Creates the constant with this text.
    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The text.
    public var description: String { rawValue }
}
