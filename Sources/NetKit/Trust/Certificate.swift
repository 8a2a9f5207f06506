#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The content of a certificate for display, without any evaluation of trust.
public struct Certificate: Sendable, Hashable {
    /// Subject, as in RFC 2253: `CN=a.example,O=Example`.
    public let subject: String
    /// Issuer, in the same form.
    public let issuer: String
    /// Subject alternative names, `DNS:a.example, IP Address:127.0.0.1`; empty without any.
    public let names: String
    /// Kind of key, such as `RSA 2048` or `EC P-256`.
    public let key: String
    /// Start of validity; `nil` if it cannot be read.
    public let begins: Date?
    /// End of validity; `nil` if it cannot be read.
    public let ends: Date?
    /// Whether it may sign other certificates.
    public let isAuthority: Bool
    /// The pin of its public key, `sha256/…`.
    public let pin: String
    /// The certificate in DER.
    public let der: [UInt8]
}
