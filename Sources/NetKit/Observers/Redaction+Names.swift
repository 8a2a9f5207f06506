extension Redaction {
    /// Names that denote secrets. Case, "-" and "_" are ignored.
    public struct Names: Sendable {
        /// Substrings of names, in lower-case letters and digits.
        public var parts: Set<String>
        /// Suffixes of names, and of each name in brackets: "user[pin]" is a form's name for the PIN of a user.
        public var ends: Set<String>
        /// Complete names that are not secrets, even if another rule matches.
        public var exceptions: Set<String> {
            didSet { bareExceptions = Set(exceptions.map(Self.bare)) }
        }
        /// Whether the library's own list also applies.
        public var includesUsual: Bool
        private var bareExceptions: Set<String>

        /// Creates a list of names.
        ///
        /// - Parameters:
        ///   - parts: substrings of names.
        ///   - ends: suffixes of names.
        ///   - exceptions: complete names that are not secrets.
        ///   - includesUsual: whether the library's own list also applies.
        public init(
            parts: Set<String> = [], ends: Set<String> = [], exceptions: Set<String> = [], includesUsual: Bool = false
        ) {
            self.parts = parts
            self.ends = ends
            self.exceptions = exceptions
            self.includesUsual = includesUsual
            bareExceptions = Set(exceptions.map(Self.bare))
        }

        /// The library's list: names with words such as token, secret, password, session, key, code, signature.
        ///
        /// Words are separated by "-", "_", "." and changes of case. `Idempotency-Key` and `tokenizer` do not match.
        public static let usual = Names(includesUsual: true)

        /// Returns whether a name denotes a secret.
        ///
        /// - Parameters:
        ///   - name: the name, with its escapes decoded.
        ///   - place: the kind of element with this name.
        public func contains(_ name: String, as place: SecretPlace = .field) -> Bool {
            if bareExceptions.isEmpty, parts.isEmpty, ends.isEmpty {
                return includesUsual && name.isUsualSecret(in: place)
            }
            let bare = Self.bare(name)
            if bareExceptions.contains(bare) {
                return false
            }
            return (includesUsual && name.isUsualSecret(in: place)) || hasOwn(bare)
        }

        private func hasOwn(_ bare: String) -> Bool {
            if parts.contains(where: { bare.contains(Self.bare($0)) }) {
                return true
            }
            // By Unicode scalars: a bracket remains a bracket even if an accent follows it.
            let names = bare.unicodeScalars.split { $0 == "[" || $0 == "]" }
            return names.contains { name in ends.contains { String(name).hasSuffix(Self.bare($0)) } }
        }

        private static func bare(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
    }
}
