#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A rule that requires a pinned key or certificate in the certificate chains of some hosts, in addition to the usual
/// verification.
public struct PinRule: Sendable, Hashable {
    /// What a rule requires.
    public enum Mode: Sendable, Hashable {
        /// Nothing. Such a rule has no pins, and excludes its hosts from a rule with a wider pattern.
        case none
        /// A pinned public key at any position of the chain.
        case publicKey
        /// A pinned certificate. The chain must also verify with the pinned certificates as its only trust anchors.
        case certificate
    }

    /// A pinned key or certificate.
    public enum Pin: Sendable, Hashable {
        /// The SHA-256 of a public key: `sha256/` or `sha256//` followed by Base64, or 64 hex digits.
        case hash(String)
        /// A certificate or, in a rule for public keys, a public key. The bytes are PEM text with one or more of them,
        /// or DER with one.
        case bytes([UInt8])
    }

    /// The hosts that the rule applies to. The pattern is one of these, optionally followed by a port:
    /// - a host name or an address (IPv6 in brackets)
    /// - `*.example.com`, which matches one additional label
    /// - `**.example.com`, which matches example.com itself and any number of additional labels
    /// - `**`, which matches every host
    ///
    /// Letter case is ignored.
    public var hosts: String
    /// What the rule requires.
    public var mode: Mode
    /// The pins. There must be at least one unless the mode is ``Mode/none``; a second one is a useful backup.
    public var pins: [Pin]
    /// The time at which the rule expires. Uses of an expired rule are recorded in ``TrustResult/flags``.
    public var expiry: Date?
    /// Whether the rule is no longer enforced after it has expired. Note that any program that can set the clock can
    /// then disable the pins.
    public var lapses = false
    /// Whether a chain without a matching pin is allowed, and only reported to the observer.
    public var reportsOnly = false

    /// Creates a rule. It is validated when it is added to a policy.
    public init(_ hosts: String, mode: Mode = .publicKey, pins: [Pin]) {
        self.hosts = hosts
        self.mode = mode
        self.pins = pins
    }
}

extension TrustPolicy {
    /// Returns a policy that trusts the system's authorities and requires one of these public keys for the hosts.
    ///
    /// - Throws: `badPin` for a malformed pin or host pattern.
    public static func pinned(_ hosts: String, _ pins: [String]) throws(NetError) -> TrustPolicy {
        try TrustPolicy().pinning(hosts, pins)
    }

    /// Returns a policy that trusts only the certificates in a file, or in the .cer, .crt and .pem files of a
    /// directory. The files are read immediately.
    ///
    /// - Throws: `badPin` if there is no such file, or if a file cannot be read.
    public static func certificates(in url: URL, for hosts: String = "**") throws(NetError) -> TrustPolicy {
        try TrustPolicy(roots: .pinned).adding(
            PinRule(hosts, mode: .certificate, pins: try CertificateFiles.read(url.path).map { .bytes($0) }))
    }

    /// Returns the same policy with additional public keys for these hosts. If there is a rule for public keys with the
    /// same host pattern, they are added to it.
    ///
    /// - Throws: `badPin` for a malformed pin or host pattern.
    public func pinning(_ hosts: String, _ pins: [String]) throws(NetError) -> TrustPolicy {
        var policy = self
        let added = pins.map { PinRule.Pin.hash($0) }
        if let index = rules.firstIndex(where: { $0.hosts.lowercased() == hosts.lowercased() && $0.mode == .publicKey })
        {
            policy.rules[index].pins += added
            try policy.check()
            return policy
        }
        return try adding(PinRule(hosts, pins: added))
    }

    /// Returns the same policy with one more rule.
    ///
    /// - Throws: `badPin` if the rule is malformed, or if the policy already has a rule for the same hosts.
    public func adding(_ rule: PinRule) throws(NetError) -> TrustPolicy {
        var policy = self
        policy.rules.append(rule)
        try policy.check()
        return policy
    }
}

/// Reads certificate files.
private enum CertificateFiles {
    static func read(_ path: String) throws(NetError) -> [[UInt8]] {
        var files: [[UInt8]] = []
        for file in try names(path) {
            guard let contents = FileManager.default.contents(atPath: file) else {
                throw NetError(.badPin, "cannot read pins from '\(file)'")
            }
            files.append([UInt8](contents))
        }
        return files
    }

    private static func names(_ path: String) throws(NetError) -> [String] {
        var isDirectory = false
        #if canImport(FoundationEssentials)
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
        #else
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        isDirectory = isFolder.boolValue
        #endif
        guard exists, isDirectory else { return [path] }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            throw NetError(.badPin, "cannot read the folder '\(path)'")
        }
        let certificates = entries.filter { name in
            [".cer", ".crt", ".pem"].contains { name.lowercased().hasSuffix($0) && name.count > 4 }
        }
        guard !certificates.isEmpty else {
            throw NetError(.badPin, "no .cer, .crt or .pem file in '\(path)'")
        }
        return certificates.sorted().map { "\(path)/\($0)" }
    }
}
