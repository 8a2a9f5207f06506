internal import CNetCore
#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A trust policy of the C core, which is released with the last reference to this object.
@safe final class OwnedTrust: Sendable {
    // SAFETY: include/netcore/trust.h: a policy is immutable and thread-safe, and deinit releases this one reference.
    private nonisolated(unsafe) let owned: OpaquePointer

    /// Creates the policy. Throws an error if a part of it is malformed.
    init(_ policy: TrustPolicy) throws(NetError) {
        try policy.checkTexts()
        var created: OpaquePointer?
        var error = nc_error()
        let status = unsafe policy.withOptions { options in unsafe nc_trust_new(&created, &options, &error) }
        guard status == .NC_OK, let created = unsafe created else { throw NetError(error) }
        unsafe owned = created
    }

    deinit {
        unsafe nc_trust_release(owned)
    }

    /// The C policy. It is valid as long as this object exists.
    var raw: OpaquePointer { unsafe owned }

    /// The weaknesses of the policy that are not errors.
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

/// A cache of the trust policies that requests used last. Creating a policy reads certificates, which takes longer than
/// sending a request.
final class TrustCache: Sendable {
    private static let capacity = 8

    private let policies = Lock<[(policy: TrustPolicy, trust: OwnedTrust)]>([])
    private let fallback = Lock<OwnedTrust?>(nil)

    /// Sets the policy of requests that set none.
    func setDefault(_ policy: TrustPolicy) throws(NetError) {
        let created = try OwnedTrust(policy)
        fallback.withLock { $0 = created }
    }

    /// The policy of requests that set none. If `nil`, the policy with which the engine was created applies.
    var defaultTrust: OwnedTrust? { fallback.withLock { $0 } }

    /// Returns the C policy for a policy, from the cache if possible.
    func trust(for policy: TrustPolicy) throws(NetError) -> OwnedTrust {
        if let found = policies.withLock({ $0.first { $0.policy.isWritten(as: policy) }?.trust }) {
            return found
        }
        let created = try OwnedTrust(policy)
        policies.withLock { policies in
            policies.insert((policy, created), at: 0)
            if policies.count > Self.capacity {
                policies.removeLast()
            }
        }
        return created
    }
}

extension TrustPolicy {
    /// Returns true if both are equal and their paths and pass phrases have the same bytes. Swift treats the
    /// precomposed and decomposed forms of "é" as equal, but they name different files and are different pass phrases.
    func isWritten(as other: TrustPolicy) -> Bool {
        self == other && zip(textsToCompare, other.textsToCompare).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    private var textsToCompare: [String] {
        var texts = [revocationLists ?? "", identity?.password ?? ""]
        if case .file(let path) = roots {
            texts.append(path)
        }
        if case .files(let certificate, let key) = identity?.source {
            texts += [certificate, key]
        }
        return texts
    }

    /// Returns the weaknesses of the policy that are not errors, such as a rule without a backup pin. Each is one line
    /// of text.
    ///
    /// - Throws: `badPin` or `usage` for a malformed policy.
    package func warnings() throws(NetError) -> [String] {
        try OwnedTrust(self).warnings
    }

    /// Calls `body` with the C policy, which is valid during the call.
    ///
    /// - Throws: `badPin` or `usage` for a malformed policy.
    package func withCore<Result>(_ body: (OpaquePointer) -> Result) throws(NetError) -> Result {
        let trust = try OwnedTrust(self)
        return withExtendedLifetime(trust) { unsafe body($0.raw) }
    }

    /// Throws the error that makes the policy unusable.
    func check() throws(NetError) {
        _ = try OwnedTrust(self)
    }

    /// Throws an error for empty texts and for numbers out of range. The core would treat an empty text as if it were
    /// not set.
    fileprivate func checkTexts() throws(NetError) {
        if roots == .file("") || roots == .pem([]) {
            throw NetError(
                .tlsRoots, "the path or PEM text of the trusted roots is empty (TrustPolicy.roots)", offset: 0)
        }
        if let identity, identity.isEmpty {
            throw NetError(
                .tlsIdentity, "the path or text of the client certificate is empty (TrustPolicy.identity)", offset: 0)
        }
        if [revocationLists, ciphers, cipherSuites].contains("") {
            throw NetError(.usage, "revocationLists, ciphers or cipherSuites of the trust policy is an empty string")
        }
        if let maximumChainLength, UInt32(exactly: maximumChainLength) ?? 0 == 0 {
            throw NetError(.usage, "maximumChainLength must be at least 1, not \(maximumChainLength)")
        }
    }

    /// Calls `make` with the C value of the policy, which is valid during the call.
    fileprivate func withOptions(_ make: (inout nc_trust_options) -> nc_status) -> nc_status {
        var arena = TrustArena()
        let texts = appendTexts(in: &arena)
        let rules = PinRuleArena(self.rules, in: &arena)
        return unsafe arena.withSlices { slice in
            var options = unsafe nc_trust_options()
            unsafe fill(&options, texts.map { unsafe slice($0) })
            return unsafe rules.withRules(slice) { list in
                unsafe options.rules = list.baseAddress.map { unsafe UnsafePointer($0) }
                unsafe options.rule_count = list.count
                return unsafe createWithReferences(&options, make)
            }
        }
    }

    /// Calls `make` with retained references to the observer and the pass phrase. The C policy releases them with
    /// itself. If no policy is created, they are released here.
    private func createWithReferences(_ options: inout nc_trust_options, _ make: (inout nc_trust_options) -> nc_status)
        -> nc_status
    {
        if let observer {
            unsafe options.observer = observer.cValue(allowsOverride: allowsOverride)
        }
        if let phrase = identity?.passPhrase {
            unsafe options.identity_pass_phrase = requestPassPhrase
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

    private func appendTexts(in arena: inout TrustArena) -> [TrustArena.TextRange] {
        var authorities: [TrustArena.TextRange] = [0..<0, 0..<0]
        switch roots {
        case .file(let path): authorities[0] = arena.put(path)
        case .pem(let pem): authorities[1] = arena.put(pem)
        case .system, .pinned: break
        }
        let lists = [revocationLists, ciphers, cipherSuites].map { arena.put($0) }
        return authorities + lists + (identity?.appendTexts(in: &arena) ?? Array(repeating: 0..<0, count: 5))
    }

    private func fill(_ options: inout nc_trust_options, _ texts: [nc_slice]) {
        switch roots {
        case .system: unsafe options.roots = .NC_ROOTS_SYSTEM
        case .file: unsafe options.roots = .NC_ROOTS_FILE
        case .pem: unsafe options.roots = .NC_ROOTS_BYTES
        case .pinned: unsafe options.roots = .NC_ROOTS_PINNED
        }
        unsafe options.min_version = minimumVersion == .tls13 ? .NC_TLS_1_3 : .NC_TLS_1_2
        switch maximumVersion {
        case nil: unsafe options.max_version = .NC_TLS_LIMIT_NONE
        case .tls12: unsafe options.max_version = .NC_TLS_LIMIT_1_2
        case .tls13: unsafe options.max_version = .NC_TLS_LIMIT_1_3
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

    /// Adds the paths or texts of the certificate and the key, and the password. Returns their ranges in the order of
    /// the C options.
    fileprivate func appendTexts(in arena: inout TrustArena) -> [TrustArena.TextRange] {
        var ranges: [TrustArena.TextRange] = Array(repeating: 0..<0, count: 5)
        switch source {
        case .files(let certificate, let key):
            ranges[0] = arena.put(certificate)
            ranges[1] = arena.put(key)
        case .texts(let certificate, let key):
            ranges[2] = arena.put(certificate)
            ranges[3] = arena.put(key)
        }
        ranges[4] = arena.put(password)
        return ranges
    }
}

// SAFETY: include/netcore/trust.h: the pass phrase is requested on a worker thread while the policy exists, and its
// context is released once, with the policy.

private func requestPassPhrase(
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

extension TrustPolicy {
    /// Evaluates a certificate chain as a handshake at the given time would, but without network access, observer and
    /// OCSP.
    ///
    /// The files of authorities and revocation lists are read. If the chain cannot be read, the result is a refusal.
    /// - Parameters:
    ///   - chain: the certificates that a server sends, leaf first, as PEM text or as a sequence of DER certificates.
    ///   - host: the host of the URL, a name or an address.
    ///   - port: the port of the URL, 1 to 65535.
    ///   - date: the time of the handshake.
    package func evaluate(
        chain: [UInt8], host: String, port: Int = 443, at date: Date = Date()
    ) throws(NetError) -> TrustResult {
        let trust = try OwnedTrust(self)
        guard let number = UInt16(exactly: port), number > 0 else {
            throw NetError(.usage, "\(port) is not a port number from 1 to 65535")
        }
        // A date that is out of range is limited to a time at which no certificate is valid.
        let seconds = Int64(moment: date.timeIntervalSince1970)
        var error = nc_error()
        var trustResult = nc_trust_result()
        let status = unsafe Bytes(chain).withSlice { chain in
            unsafe host.withSlice { host in
                var input = unsafe nc_trust_question(chain: chain, host: host, port: number, at_s: seconds)
                return unsafe nc_trust_evaluate(&trustResult, trust.raw, &input, &error)
            }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe TrustResult(&trustResult)
    }
}
