#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A rule that requires, in addition to verification, a pinned key or certificate in the verified chain of some hosts.
public struct PinRule: Sendable, Hashable {
    /// The requirement of a rule.
    public enum Mode: Sendable, Hashable {
        /// No requirement: excludes a host from a wider rule. Such a rule has no pins.
        case none
        /// A pinned public key at any position of the chain.
        case publicKey
        /// A pinned certificate, and a chain that verifies with the pinned ones as its only anchors.
        case certificate
    }

    /// A pinned key or certificate.
    public enum Pin: Sendable, Hashable {
        /// The SHA-256 of a public key: `sha256/` or `sha256//` and Base64, or 64 hex digits.
        case hash(String)
        /// A certificate, or in a rule for public keys a public key: PEM (one or more) or DER (one).
        case bytes([UInt8])
    }

    /// `api.example.com`, `*.example.com` (one label), `**.example.com` (any depth, and example.com itself), `**` (every
    /// host), an address (IPv6 in brackets); each may end in a port. Letter case is ignored.
    public var hosts: String
    /// The requirement.
    public var mode: Mode
    /// The pins; at least one, and preferably two.
    public var pins: [Pin]
    /// When the rule expires; each use after that is recorded in ``TrustVerdict/notes``.
    public var expiry: Date?
    /// Whether an expired rule is not enforced: then anything that can change the clock can disable the pins.
    public var lapses = false
    /// Whether a chain without a matching pin is allowed and only reported.
    public var reportsOnly = false
    /// The smallest number of different pins.
    public var minimumPins = 1

    /// Creates a rule; it is validated when it is added to a policy.
    public init(_ hosts: String, mode: Mode = .publicKey, pins: [Pin]) {
        self.hosts = hosts
        self.mode = mode
        self.pins = pins
    }
}

extension TrustPolicy {
    /// Returns a policy with the system's authorities, and these public keys for these hosts.
    ///
    /// - Throws: `badPin` for a malformed pin or host pattern.
    public static func pinned(_ hosts: String, _ pins: [String]) throws(NetError) -> TrustPolicy {
        try TrustPolicy().pinning(hosts, pins)
    }

    /// Returns a policy that trusts only the certificates of a file, or of a directory's .cer, .crt and .pem files.
    /// They are read now.
    ///
    /// - Throws: `badPin` if there is none, or one cannot be read.
    public static func certificates(in url: URL, for hosts: String = "**") throws(NetError) -> TrustPolicy {
        try TrustPolicy(roots: .pinned).adding(
            PinRule(hosts, mode: .certificate, pins: try CertificateFiles.read(url.path).map { .bytes($0) }))
    }

    /// Returns the same policy with these public keys for these hosts. They are added to a rule with the same pattern.
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
    /// - Throws: `badPin` for a malformed rule, or if there is one for the same hosts.
    public func adding(_ rule: PinRule) throws(NetError) -> TrustPolicy {
        var policy = self
        policy.rules.append(rule)
        try policy.check()
        return policy
    }
}

/// Files of certificates, read as a whole.
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
