#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a certificate says, for people; nothing here believes anything.
public struct Certificate: Sendable, Hashable {
    /// Subject, as in RFC 2253: `CN=a.example,O=Example`.
    public let subject: String
    /// Issuer, likewise.
    public let issuer: String
    /// Subject alternative names, `DNS:a.example, IP Address:127.0.0.1`; empty without any.
    public let names: String
    /// Kind of key, such as `RSA 2048` or `EC P-256`.
    public let key: String
    /// When it begins; nil when that cannot be read.
    public let begins: Date?
    /// When it ends.
    public let ends: Date?
    /// Whether it may sign others.
    public let isAuthority: Bool
    /// The pin of its public key, `sha256/…`.
    public let pin: String
    /// The certificate itself, DER.
    public let der: [UInt8]
}
