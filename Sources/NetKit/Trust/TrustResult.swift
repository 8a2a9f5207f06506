#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The result of evaluating a certificate chain: whether it is allowed, the reason if it is refused, and the pins that
/// were compared.
public struct TrustResult: Sendable, Hashable {
    /// Facts about an evaluation that are worth reporting, even if the chain is allowed.
    public enum Flag: UInt32, Sendable, Hashable, CaseIterable {
        /// The pin rule has expired.
        case ruleExpired = 1
        /// The pin rule has expired and is no longer enforced.
        case ruleLapsed = 2
        /// No pin matched, but the rule only reports that.
        case reportOnly = 4
        /// The host was not compared with the names in the certificate.
        case nameUnchecked = 8
        /// The chain was not required to verify.
        case chainUnchecked = 16
        /// The observer refused a chain that the policy allowed.
        case tightened = 32
        /// The observer allowed a chain that the policy refused.
        case overridden = 64
        /// The request used no TLS.
        case plaintext = 128
    }

    /// The reason why the chain is refused; `nil` if it is allowed.
    public let refusal: NetError.Code?
    /// The problem that was found, even if the chain is allowed nevertheless; `nil` if there is none.
    public let finding: NetError.Code?
    /// Facts that are worth reporting.
    public let flags: Set<Flag>
    /// Whether ``chainPins`` belong to the verified chain. If false, they belong to the chain that the server sent.
    public let isVerified: Bool
    /// The pins of the chain's public keys, leaf first, in the form that `nk pins` prints. At most sixteen are listed.
    public let chainPins: [String]
    /// The public key pins of the matching rule. At most sixteen are listed.
    public let policyPins: [String]
    /// A description of the problem in one line. Empty if there is nothing to report.
    public let message: String

    /// Whether the chain is allowed.
    package var isAllowed: Bool { refusal == nil }
}

/// The content of a certificate, for display. It says nothing about whether the certificate is trusted.
package struct Certificate: Sendable, Hashable {
    /// The subject in the form of RFC 2253, such as `CN=a.example,O=Example`.
    package let subject: String
    /// The issuer, in the same form.
    package let issuer: String
    /// The subject alternative names, such as `DNS:a.example, IP Address:127.0.0.1`; empty if there are none.
    package let names: String
    /// The type of the public key, such as `RSA 2048` or `EC P-256`.
    package let key: String
    /// The start of the validity period; `nil` if it cannot be read.
    package let begins: Date?
    /// The end of the validity period; `nil` if it cannot be read.
    package let ends: Date?
    /// Whether the certificate may sign other certificates.
    package let isAuthority: Bool
    /// The pin of the public key, `sha256/…`, as in ``PinRule/Pin/hash(_:)``.
    package let pin: String
    /// The certificate in DER.
    package let der: [UInt8]
}

/// Observes the evaluation of certificate chains. It is notified of refused chains, and can refuse chains that the
/// policy allows.
///
/// Its closures run on the agent's event loop thread during the handshake, while all other transfers of the agent wait.
/// They must not block. Two observers are never equal, so policies with different observers never share a connection.
public final class TrustObserver: Sendable {
    let report: (@Sendable (TrustEvent) -> Void)?
    let decide: (@Sendable (TrustEvent) -> Bool)?
    /// Identifies the observer in cache keys. Closures cannot be compared, so each observer has a random value that
    /// differs in each process.
    let mark = "\(UInt64.random(in: 0 ... .max)) \(UInt64.random(in: 0 ... .max))"

    /// Creates an observer from one or both closures.
    ///
    /// - Parameters:
    ///   - report: called for each refused chain, and for each allowed chain whose result has ``TrustResult/flags``. It
    ///     is called at most once a minute for each host and port.
    ///   - decide: called in each handshake to decide whether the chain is accepted. If it returns false, the chain is
    ///     refused. If it returns true, a chain that the policy refused is accepted only if the policy was created with
    ///     `allowsOverride`.
    public init(
        report: (@Sendable (TrustEvent) -> Void)? = nil, decide: (@Sendable (TrustEvent) -> Bool)? = nil
    ) {
        self.report = report
        self.decide = decide
    }
}

extension TrustObserver: IdentityHashable {}

/// One evaluation in a handshake.
public struct TrustEvent: Sendable, Hashable {
    /// The host of the URL.
    public let host: String
    /// The port.
    public let port: Int
    /// The policy's evaluation result.
    public let trustResult: TrustResult
    /// The certificates in DER, leaf first. They are the verified chain or, if ``TrustResult/isVerified`` is false, the
    /// chain that the server sent. Empty for a request without TLS.
    public let chain: [[UInt8]]
    /// The number of events for this host and port that were not reported since the last report, because reports are
    /// limited to one a minute.
    public let unreported: Int
}
