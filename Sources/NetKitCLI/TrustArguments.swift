import NetKit

/// The options of pins and TLS, except --cacert, -k, --cert and --key.
struct TrustArguments: Sendable {
    /// The value of --pin: a host pattern and a pin.
    struct Pin: Sendable {
        let hosts: String
        let text: String
    }

    var pins: [Pin] = []
    /// The value of --pinnedpubkey in curl's syntax: hashes, or the name of a file with a key. The pins apply to the
    /// host of each URL.
    var pinnedKeys: String?
    var reportsOnly = false
    var minimumVersion = TrustPolicy.TLSVersion.tls12
    var maximumVersion: TrustPolicy.TLSVersion?
    var revocationLists: String?
    var ciphers: String?
    var cipherSuites: String?
    var requiresStaple = false
    var usesALPN = true
    var isStrict = false
    var maximumChainLength: Int?
    /// The observer that receives the results of report-only pins.
    var observer: TrustObserver?

    /// The warnings about the pins. Malformed pins cause no warning, because they are errors when they are used.
    var warnings: [String] {
        guard let rules = try? rules(for: nil), !rules.isEmpty else { return [] }
        var policy = TrustPolicy()
        policy.rules = rules
        return (try? policy.warnings()) ?? []
    }

    /// Returns the trust policy for a URL. `url` is `nil` for a command that has none.
    func policy(
        for url: String?, authorities: String?, isInsecure: Bool, identity: ClientIdentity? = nil
    ) throws(Failure) -> TrustPolicy {
        var policy = TrustPolicy(
            roots: authorities.map { .file($0) } ?? .system, minimumVersion: minimumVersion,
            acceptsAnything: isInsecure, identity: identity)
        policy.maximumVersion = maximumVersion
        policy.revocationLists = revocationLists
        policy.ciphers = ciphers
        policy.cipherSuites = cipherSuites
        policy.requiresStaple = requiresStaple
        policy.usesALPN = usesALPN
        policy.isStrict = isStrict
        policy.maximumChainLength = maximumChainLength
        policy.observer = observer
        policy.rules = try rules(for: url)
        return policy
    }

    /// Returns a rule for each host. The pins of one host are combined.
    private func rules(for url: String?) throws(Failure) -> [PinRule] {
        var rules: [PinRule] = []
        func add(_ pin: PinRule.Pin, for hosts: String) {
            if let index = rules.firstIndex(where: { $0.hosts.lowercased() == hosts.lowercased() }) {
                rules[index].pins.append(pin)
                return
            }
            var rule = PinRule(hosts, pins: [pin])
            rule.reportsOnly = reportsOnly
            rules.append(rule)
        }
        for pin in pins {
            add(.hash(pin.text), for: pin.hosts)
        }
        if let pinnedKeys, let url {
            for pin in try Self.keys(pinnedKeys) {
                add(pin, for: URLText(url).host)
            }
        }
        return rules
    }

    /// Parses `sha256//…;sha256//…`, or reads the key in a file.
    private static func keys(_ text: String) throws(Failure) -> [PinRule.Pin] {
        if text.hasPrefix("sha256//") {
            return text.split(separator: ";", omittingEmptySubsequences: false).map { .hash(String($0)) }
        }
        do throws(SystemError) {
            return [.bytes(try InputFile.contents(of: text))]
        } catch {
            // As in curl, this has the exit code of a mismatch, because a key that cannot be read never matches.
            throw Failure(ExitCode.pinMismatch, "cannot read the public key \(text): \(error.message)")
        }
    }
}

extension Arguments {
    /// The client certificate of --cert and --key.
    var identity: ClientIdentity? {
        certificate.map { .file(certificate: $0.path, key: key, password: $0.password) }
    }
}

extension Option {
    /// The options of TLS.
    static let trust: [Option] = [
        value("E", "cert") { $0.certificate = OptionValue.certificate($1) },
        value(nil, "key") { $0.key = $1 },
        value(nil, "cacert") { $0.authorityFile = $1 },
        toggle("k", "insecure") { $0.isInsecure = $1 },
        value(nil, "pin") { (arguments, text) throws(UsageError) in
            arguments.trust.pins.append(try OptionValue.pin(text))
        },
        value(nil, "pinnedpubkey") { (arguments, text) throws(UsageError) in
            guard !text.isEmpty else { throw UsageError("--pinnedpubkey needs a key") }
            arguments.trust.pinnedKeys = text
        },
        toggle(nil, "pin-report-only") { $0.trust.reportsOnly = $1 },
        flag(nil, "tlsv1.2") { $0.trust.minimumVersion = .tls12 },
        flag(nil, "tlsv1.3") { $0.trust.minimumVersion = .tls13 },
        value(nil, "tls-max") { (arguments, text) throws(UsageError) in
            arguments.trust.maximumVersion = try OptionValue.tlsVersion(text)
        },
        value(nil, "crlfile") { $0.trust.revocationLists = $1 },
        value(nil, "ciphers") { $0.trust.ciphers = $1 },
        value(nil, "tls13-ciphers") { $0.trust.cipherSuites = $1 },
        toggle(nil, "cert-status") { $0.trust.requiresStaple = $1 },
        toggle(nil, "trust-strict") { $0.trust.isStrict = $1 },
        value(nil, "trust-max-chain") { (arguments, text) throws(UsageError) in
            arguments.trust.maximumChainLength = try OptionValue.chainLength(text, of: "--trust-max-chain")
        },
        flag(nil, "no-alpn", undo: { $0.trust.usesALPN = true }) { $0.trust.usesALPN = false },
    ]
}

extension OptionValue {
    /// Parses `HOST=PIN`, which the first "=" separates. A pin may end in "=", but a host pattern never contains one.
    static func pin(_ text: String) throws(UsageError) -> TrustArguments.Pin {
        guard let (hosts, _, pin) = text.cut(atFirst: "="), !hosts.isEmpty, !isPin(text) else {
            throw UsageError("--pin takes HOST=sha256/…, not '\(text)'")
        }
        return .init(hosts: hosts, text: pin)
    }

    /// Returns true if the text is a pin without a host, even if the pin is malformed.
    static func isPin(_ text: String) -> Bool {
        text.hasPrefix("sha256/") || (text.utf8.count == 64 && text.allSatisfy(\.isHexDigit))
    }

    static func chainLength(_ text: String, of word: String) throws(UsageError) -> Int {
        guard let length = Int(text), (1...1000).contains(length) else {
            throw UsageError("invalid \(word) '\(text)': expected a number from 1 to 1000")
        }
        return length
    }

    /// Parses a TLS version. Returns `nil` for "default", which stands for the newest version.
    static func tlsVersion(_ text: String) throws(UsageError) -> TrustPolicy.TLSVersion? {
        switch text {
        case "default": nil
        case "1.2": .tls12
        case "1.3": .tls13
        default: throw UsageError("invalid --tls-max '\(text)': expected 1.2, 1.3 or default")
        }
    }
}
