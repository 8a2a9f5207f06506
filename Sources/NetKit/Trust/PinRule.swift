#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What is asked of some hosts beyond verification: one of these keys or certificates in the verified chain.
public struct PinRule: Sendable, Hashable {
    /// What a rule asks for.
    public enum Mode: Sendable, Hashable {
        /// Nothing: takes a host out of a wider rule. Such a rule has no pins.
        case none
        /// A pinned public key, at any place of the chain.
        case publicKey
        /// A pinned certificate, and a chain that verifies with the pinned ones as its only anchors.
        case certificate
    }

    /// One key or certificate.
    public enum Pin: Sendable, Hashable {
        /// SHA-256 of a public key: `sha256/` or `sha256//` and base64, or 64 hex digits.
        case hash(String)
        /// A certificate, or a public key where one is asked for: PEM (one or more) or DER (one).
        case bytes([UInt8])
    }

    /// `api.example.com`, `*.example.com` (one label), `**.example.com` (any depth, and example.com itself), `**` (every
    /// host), an address (IPv6 in brackets); each may end in a port. Letter case is ignored.
    public var hosts: String
    /// What is asked for.
    public var mode: Mode
    /// The pins; at least one, and better two.
    public var pins: [Pin]
    /// When it expires; from then on each use is noted.
    public var expiry: Date?
    /// True stops enforcing it then: whoever can move the clock can do without the pins.
    public var lapses = false
    /// True lets a chain pass that matches no pin, and reports it.
    public var reportsOnly = false
    /// Different pins that there have to be at least.
    public var minimumPins = 1

    /// A rule; it is checked where a policy is made of it.
    public init(_ hosts: String, mode: Mode = .publicKey, pins: [Pin]) {
        self.hosts = hosts
        self.mode = mode
        self.pins = pins
    }
}

extension TrustPolicy {
    /// The system's authorities, and these public keys for these hosts.
    ///
    /// Throws `badPin` when a pin or the host pattern is malformed.
    public static func pinned(_ hosts: String, _ pins: [String]) throws(NetError) -> TrustPolicy {
        try TrustPolicy().pinning(hosts, pins)
    }

    /// Nobody but the certificates of a file, or of a folder's .cer, .crt and .pem files, which are read now.
    ///
    /// Throws `badPin` when there is none or one cannot be read.
    public static func certificates(in url: URL, for hosts: String = "**") throws(NetError) -> TrustPolicy {
        try TrustPolicy(roots: .pinned).adding(
            PinRule(hosts, mode: .certificate, pins: try CertificateFiles.read(url.path).map { .bytes($0) }))
    }

    /// The same policy with these public keys for these hosts; a rule for the same pattern gets them as well.
    ///
    /// Throws `badPin` when a pin or the host pattern is malformed.
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

    /// The same policy with one more rule.
    ///
    /// Throws `badPin` when the rule is malformed, or there is one for the same hosts.
    public func adding(_ rule: PinRule) throws(NetError) -> TrustPolicy {
        var policy = self
        policy.rules.append(rule)
        try policy.check()
        return policy
    }
}

/// Files of certificates, read whole.
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
