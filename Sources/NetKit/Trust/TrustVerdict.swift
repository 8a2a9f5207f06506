/// The evaluation result of a chain: allowed or the reason of its refusal, with the pins of chain and policy.
public struct TrustVerdict: Sendable, Hashable {
    /// Remarkable facts about a connection, even if it is allowed.
    public struct Notes: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt32

        /// Creates notes from their bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The rule has expired.
        public static let ruleExpired = Notes(rawValue: 1)
        /// The rule has expired and is no longer enforced.
        public static let ruleLapsed = Notes(rawValue: 2)
        /// No pin matched, and the rule only reports.
        public static let reportOnly = Notes(rawValue: 4)
        /// The name was not compared.
        public static let nameUnchecked = Notes(rawValue: 8)
        /// The chain was not required to verify.
        public static let chainUnchecked = Notes(rawValue: 16)
        /// The observer refused what the policy allowed.
        public static let tightened = Notes(rawValue: 32)
        /// The observer allowed what the policy refused.
        public static let overridden = Notes(rawValue: 64)
        /// The request is not encrypted.
        public static let plaintext = Notes(rawValue: 128)
    }

    /// The reason why the chain is refused; `nil` if it is allowed.
    public let refusal: NetError.Code?
    /// The problem that was found, even if it is not enforced; `nil` if there is none.
    public let finding: NetError.Code?
    /// Further facts.
    public let notes: Notes
    /// Whether the listed chain is the verified one; otherwise it is the one that the server sent.
    public let isVerified: Bool
    /// The pins of the chain's public keys, leaf first, as `nk pins` prints them; at most sixteen.
    public let chainPins: [String]
    /// The public key pins of the matching rule; at most sixteen.
    public let policyPins: [String]
    /// One line for display; empty if there is nothing to report.
    public let message: String

    /// Whether the chain is allowed.
    public var isAllowed: Bool { refusal == nil }
}
