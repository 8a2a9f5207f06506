extension Redaction {
    /// Names that stand for secrets. Case, "-" and "_" do not count.
    public struct Names: Sendable {
        /// Parts of names, in lower-case letters and digits.
        public var parts: Set<String>
        /// Ends of names, and of each name in brackets: "user[pin]" is how a form writes the PIN of a user.
        public var ends: Set<String>
        /// Whole names that are no secrets, whatever the other rules say.
        public var exceptions: Set<String> {
            didSet { bareExceptions = Set(exceptions.map(Self.bare)) }
        }
        /// Whether the library's own list counts as well.
        public var includesUsual: Bool
        private var bareExceptions: Set<String>

        /// Names with these parts, or these ends.
        ///
        /// - Parameters:
        ///   - parts: parts of names.
        ///   - ends: ends of names.
        ///   - exceptions: whole names that are no secrets.
        ///   - includesUsual: whether the library's own list counts as well.
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
        /// Words are separated by "-", "_", "." and changes of case. `Idempotency-Key` and `tokenizer` are none.
        public static let usual = Names(includesUsual: true)

        /// Whether it stands for a secret.
        ///
        /// - Parameters:
        ///   - name: the name, its escapes undone.
        ///   - place: where it stands.
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
            // By scalars: a bracket is one, whatever accent follows it.
            let names = bare.unicodeScalars.split { $0 == "[" || $0 == "]" }
            return names.contains { name in ends.contains { String(name).hasSuffix(Self.bare($0)) } }
        }

        private static func bare(_ name: String) -> String { name.lowercased().filter { $0 != "-" && $0 != "_" } }
    }
}
