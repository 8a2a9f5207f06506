internal import CNetCore

/// A trust policy in the C core, released with the last reference.
@safe final class OwnedTrust: Sendable {
    // SAFETY: include/netcore/trust.h: a policy is immutable and thread-safe, and deinit releases this one reference.
    private nonisolated(unsafe) let owned: OpaquePointer

    /// Creates the policy. Throws for anything malformed.
    init(_ policy: TrustPolicy) throws(NetError) {
        try policy.checkTexts()
        var made: OpaquePointer?
        var error = nc_error()
        let status = unsafe policy.withOptions { options in unsafe nc_trust_new(&made, &options, &error) }
        guard status == .NC_OK, let made = unsafe made else { throw NetError(error) }
        unsafe owned = made
    }

    deinit {
        unsafe nc_trust_release(owned)
    }

    /// The policy, for the length of a call during this object's lifetime.
    var raw: OpaquePointer { unsafe owned }

    /// The policy's weaknesses that are no errors.
    var warnings: [String] {
        (0..<(unsafe nc_trust_warning_count(owned))).map { index in
            unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 400) { line in
                guard let base = line.baseAddress else { return "" }
                _ = unsafe nc_trust_warning_at(owned, index, base, line.count)
                return unsafe String(cString: base)
            }
        }
    }
}

/// The last policies of requests: reading certificates takes longer than sending a request.
final class TrustShelf: Sendable {
    private static let room = 8

    private let kept = Lock<[(policy: TrustPolicy, trust: OwnedTrust)]>([])
    private let fallback = Lock<OwnedTrust?>(nil)

    /// Sets the policy of requests without their own.
    func setDefault(_ policy: TrustPolicy) throws(NetError) {
        let made = try OwnedTrust(policy)
        fallback.withLock { $0 = made }
    }

    /// The policy of requests without their own; `nil` stands for the engine's own.
    var defaultTrust: OwnedTrust? { fallback.withLock { $0 } }

    /// Returns the policy in the core's form.
    func trust(for policy: TrustPolicy) throws(NetError) -> OwnedTrust {
        if let found = kept.withLock({ $0.first { $0.policy.isWritten(as: policy) }?.trust }) {
            return found
        }
        let made = try OwnedTrust(policy)
        kept.withLock { kept in
            kept.insert((policy, made), at: 0)
            if kept.count > Self.room {
                kept.removeLast()
            }
        }
        return made
    }
}

extension TrustPolicy {
    /// Returns true if both are equal byte by byte: Swift treats the two normalizations of "é" as equal, but they are
    /// two files, and two pass phrases.
    func isWritten(as other: TrustPolicy) -> Bool {
        self == other && zip(spelledTexts, other.spelledTexts).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    private var spelledTexts: [String] {
        var texts = [revocationLists ?? "", identity?.password ?? ""]
        if case .file(let path) = roots {
            texts.append(path)
        }
        if case .files(let certificate, let key) = identity?.source {
            texts += [certificate, key]
        }
        return texts
    }

    /// Returns the policy's weaknesses that are no errors, such as a rule without a backup pin: one line each.
    ///
    /// - Throws: `badPin`, or `usage`, for a malformed policy.
    public func warnings() throws(NetError) -> [String] {
        try OwnedTrust(self).warnings
    }

    /// Throws the error that makes the policy unusable.
    func check() throws(NetError) {
        _ = try OwnedTrust(self)
    }

    /// The core treats an empty text as none.
    fileprivate func checkTexts() throws(NetError) {
        if roots == .file("") || roots == .pem([]) {
            throw NetError(.tlsRoots, "the trusted authorities are named by an empty path or text", offset: 0)
        }
        if let identity, identity.isEmpty {
            throw NetError(.tlsIdentity, "the client certificate is named by an empty path or text", offset: 0)
        }
        if [revocationLists, ciphers, cipherSuites].contains("") {
            throw NetError(.usage, "a path or a list of the trust policy is empty")
        }
        if let maximumChainLength, UInt32(exactly: maximumChainLength) ?? 0 == 0 {
            throw NetError(.usage, "a chain of \(maximumChainLength) certificates at most is none")
        }
        for rule in rules where rule.minimumPins < 1 || rule.minimumPins > Int(NC_TRUST_MAX_PINS) {
            throw NetError(.badPin, "the rule for '\(rule.hosts)' asks for \(rule.minimumPins) pins")
        }
    }

    /// Calls `make` with the core's form of the policy, which is valid during the call.
    fileprivate func withOptions(_ make: (inout nc_trust_options) -> nc_status) -> nc_status {
        var arena = TrustArena()
        let texts = place(in: &arena)
        let rules = RuleTexts(self.rules, in: &arena)
        return unsafe arena.withSlices { slice in
            var options = unsafe nc_trust_options()
            unsafe fill(&options, texts.map { unsafe slice($0) })
            return unsafe rules.withRules(slice) { list in
                unsafe options.rules = list.baseAddress.map { unsafe UnsafePointer($0) }
                unsafe options.rule_count = list.count
                return unsafe settle(&options, make)
            }
        }
    }

    /// Passes on the references that the policy's release drops; if no policy is created, they are released here.
    private func settle(_ options: inout nc_trust_options, _ make: (inout nc_trust_options) -> nc_status) -> nc_status {
        if let observer {
            unsafe options.observer = observer.cValue(allowsOverride: allowsOverride)
        }
        if let phrase = identity?.passPhrase {
            unsafe options.identity_pass_phrase = askPassPhrase
            unsafe options.identity_ctx = Unmanaged.passRetained(phrase).toOpaque()
            unsafe options.identity_release = releasePassPhrase
        }
        let status = unsafe make(&options)
        if status != .NC_OK {
            unsafe options.observer.release?(options.observer.ctx)
            unsafe options.identity_release?(options.identity_ctx)
        }
        return status
    }

    private func place(in arena: inout TrustArena) -> [TrustArena.Place] {
        var authorities: [TrustArena.Place] = [0..<0, 0..<0]
        switch roots {
        case .file(let path): authorities[0] = arena.put(path)
        case .pem(let pem): authorities[1] = arena.put(pem)
        case .system, .pinned: break
        }
        let lists = [revocationLists, ciphers, cipherSuites].map { arena.put($0) }
        return authorities + lists + (identity?.place(in: &arena) ?? Array(repeating: 0..<0, count: 5))
    }

    private func fill(_ options: inout nc_trust_options, _ texts: [nc_slice]) {
        switch roots {
        case .system: unsafe options.roots = .NC_ROOTS_SYSTEM
        case .file: unsafe options.roots = .NC_ROOTS_FILE
        case .pem: unsafe options.roots = .NC_ROOTS_BYTES
        case .pinned: unsafe options.roots = .NC_ROOTS_PINNED
        }
        unsafe options.min_version = minimumVersion == .tls1_3 ? .NC_TLS_1_3 : .NC_TLS_1_2
        switch maximumVersion {
        case nil: unsafe options.max_version = .NC_TLS_LIMIT_NONE
        case .tls1_2: unsafe options.max_version = .NC_TLS_LIMIT_1_2
        case .tls1_3: unsafe options.max_version = .NC_TLS_LIMIT_1_3
        }
        unsafe options.accepts_anything = acceptsAnything
        unsafe options.accepts_invalid_chains = acceptsInvalidChains
        unsafe options.skips_name_check = skipsNameCheck
        unsafe options.requires_staple = requiresStaple
        unsafe options.skips_alpn = !usesALPN
        unsafe options.is_strict = isStrict
        unsafe options.max_chain_length = UInt32(maximumChainLength ?? 0)
        unsafe options.ca_file = texts[0]
        unsafe options.ca_pem = texts[1]
        unsafe options.crl_file = texts[2]
        unsafe options.ciphers = texts[3]
        unsafe options.cipher_suites = texts[4]
        unsafe options.identity_file = texts[5]
        unsafe options.identity_key_file = texts[6]
        unsafe options.identity_pem = texts[7]
        unsafe options.identity_key_pem = texts[8]
        unsafe options.identity_password = texts[9]
    }
}

extension ClientIdentity {
    fileprivate var isEmpty: Bool {
        switch source {
        case .files(let certificate, _): certificate.isEmpty
        case .texts(let certificate, _): certificate.isEmpty
        }
    }

    /// Adds certificate and key, as files or as texts, and the password.
    fileprivate func place(in arena: inout TrustArena) -> [TrustArena.Place] {
        var places: [TrustArena.Place] = Array(repeating: 0..<0, count: 5)
        switch source {
        case .files(let certificate, let key):
            places[0] = arena.put(certificate)
            places[1] = arena.put(key)
        case .texts(let certificate, let key):
            places[2] = arena.put(certificate)
            places[3] = arena.put(key)
        }
        places[4] = arena.put(password)
        return places
    }
}

// SAFETY: include/netcore/trust.h: the pass phrase is requested on a worker thread while the policy lives, and released
// once with it.

private func askPassPhrase(
    _ context: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<CChar>, _ capacity: Int
) -> Int {
    guard let context = unsafe context else { return 0 }
    let phrase = unsafe Unmanaged<ClientIdentity.PassPhrase>.fromOpaque(context).takeUnretainedValue().ask() ?? ""
    let bytes = Array(phrase.utf8)
    if bytes.count > capacity {
        return 0
    }
    for (index, byte) in bytes.enumerated() {
        unsafe buffer[index] = CChar(bitPattern: byte)
    }
    return bytes.count
}

private func releasePassPhrase(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<ClientIdentity.PassPhrase>.fromOpaque(context).release()
}
