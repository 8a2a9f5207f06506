/// What a policy says of a chain: allowed or why not, with the pins that were seen and those that were asked for.
public struct TrustVerdict: Sendable, Hashable {
    /// What is worth telling about a connection that may well be allowed.
    public struct Notes: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt32

        /// Notes of these bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// The rule has expired.
        public static let ruleExpired = Notes(rawValue: 1)
        /// It is no longer enforced because of that.
        public static let ruleLapsed = Notes(rawValue: 2)
        /// No pin matched, and the rule only reports.
        public static let reportOnly = Notes(rawValue: 4)
        /// The name was not compared.
        public static let nameUnchecked = Notes(rawValue: 8)
        /// The chain need not verify.
        public static let chainUnchecked = Notes(rawValue: 16)
        /// The observer refused what the policy allowed.
        public static let tightened = Notes(rawValue: 32)
        /// The observer allowed what the policy refused.
        public static let overridden = Notes(rawValue: 64)
        /// A request in the clear.
        public static let plaintext = Notes(rawValue: 128)
    }

    /// Why the chain is refused; nil when it is allowed.
    public let refusal: NetError.Code?
    /// What was found, also where it is not enforced; nil when there is nothing.
    public let finding: NetError.Code?
    /// What else there is to tell.
    public let notes: Notes
    /// True when the chain listed is the one that was verified; otherwise it is the one that was sent.
    public let isVerified: Bool
    /// Pins of the chain's public keys, the leaf's first, as `nk pins` prints them; sixteen at most.
    public let chainPins: [String]
    /// Public key pins of the rule that covers the host; sixteen at most.
    public let policyPins: [String]
    /// One line; empty when there is nothing to tell.
    public let message: String

    /// Whether the chain is allowed.
    public var isAllowed: Bool { refusal == nil }
}
