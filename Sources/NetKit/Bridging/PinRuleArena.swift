internal import CNetCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The pin rules of a policy, with their texts in an arena.
struct PinRuleArena {
    private let rules: [PinRule]
    private let hosts: [TrustArena.TextRange]
    private let hashes: [[TrustArena.TextRange]]
    private let bytes: [[TrustArena.TextRange]]

    init(_ rules: [PinRule], in arena: inout TrustArena) {
        var hosts: [TrustArena.TextRange] = []
        var hashes: [[TrustArena.TextRange]] = []
        var bytes: [[TrustArena.TextRange]] = []
        for rule in rules {
            hosts.append(arena.put(rule.hosts))
            var ruleHashes: [TrustArena.TextRange] = []
            var ruleBytes: [TrustArena.TextRange] = []
            for pin in rule.pins {
                switch pin {
                case .hash(let text): ruleHashes.append(arena.put(text))
                case .bytes(let contents): ruleBytes.append(arena.put(contents))
                }
            }
            hashes.append(ruleHashes)
            bytes.append(ruleBytes)
        }
        self.rules = rules
        self.hosts = hosts
        self.hashes = hashes
        self.bytes = bytes
    }

    /// Calls `body` with the C values of the rules, which are valid during the call.
    func withRules(
        _ slice: (TrustArena.TextRange) -> nc_slice, _ body: (UnsafeMutableBufferPointer<nc_trust_rule>) -> nc_status
    ) -> nc_status {
        let pinCount = hashes.reduce(0) { $0 + $1.count } + bytes.reduce(0) { $0 + $1.count }
        return unsafe withUnsafeTemporaryAllocation(of: nc_slice.self, capacity: pinCount) { pins in
            var next = 0
            func list(_ ranges: [TrustArena.TextRange]) -> UnsafePointer<nc_slice>? {
                let start = next
                for range in ranges {
                    unsafe pins.initializeElement(at: next, to: slice(range))
                    next += 1
                }
                return unsafe ranges.isEmpty ? nil : pins.baseAddress.map { unsafe UnsafePointer($0 + start) }
            }
            return unsafe withUnsafeTemporaryAllocation(of: nc_trust_rule.self, capacity: rules.count) { ruleBuffer in
                for (index, rule) in rules.enumerated() {
                    var cRule = unsafe nc_trust_rule()
                    unsafe cRule.hosts = slice(hosts[index])
                    unsafe cRule.mode = rule.mode.cValue
                    unsafe cRule.pins = list(hashes[index])
                    unsafe cRule.pin_count = hashes[index].count
                    unsafe cRule.certificates = list(bytes[index])
                    unsafe cRule.certificate_count = bytes[index].count
                    unsafe cRule.expires_at_s = rule.expiry.map(Self.seconds) ?? 0
                    unsafe cRule.lapses = rule.lapses
                    unsafe cRule.reports_only = rule.reportsOnly
                    unsafe cRule.min_pins = rule.mode == .none ? 0 : 1
                    unsafe ruleBuffer.initializeElement(at: index, to: cRule)
                }
                return unsafe body(ruleBuffer)
            }
        }
    }

    /// Returns the seconds since 1970. In the core, 0 stands for no expiry, so a date up to 1970 becomes 1.
    private static func seconds(_ date: Date) -> Int64 {
        max(1, Int64(moment: date.timeIntervalSince1970))
    }
}

extension PinRule.Mode {
    fileprivate var cValue: nc_pin_mode {
        switch self {
        case .none: .NC_PIN_NONE
        case .publicKey: .NC_PIN_PUBLIC_KEY
        case .certificate: .NC_PIN_CERTIFICATE
        }
    }
}

/// The texts of a trust policy in one block of memory, from which slices for the C core are created.
struct TrustArena {
    /// The range of a text in the block. Empty if there is no text.
    typealias TextRange = Range<Int>

    private var bytes: [UInt8] = []

    mutating func put(_ text: String?) -> TextRange { put(Array((text ?? "").utf8)) }

    mutating func put(_ more: [UInt8]) -> TextRange {
        let start = bytes.count
        bytes += more
        return start..<bytes.count
    }

    /// Calls `body` with a function that returns the slice of a range. Slices are valid during the call.
    func withSlices<Result>(_ body: ((TextRange) -> nc_slice) -> Result) -> Result {
        unsafe bytes.withUnsafeBufferPointer { block in
            unsafe body { range in
                let base = unsafe block.baseAddress.map { unsafe $0 + range.lowerBound }
                return unsafe nc_slice(data: range.isEmpty ? nil : base, length: range.count)
            }
        }
    }
}

extension TrustResult {
    init(_ trustResult: UnsafePointer<nc_trust_result>) {
        let raw = unsafe trustResult.pointee
        func code(_ status: nc_status) -> NetError.Code? { status == .NC_OK ? nil : NetError.Code(status) }
        func pins(
            _ count: UInt32, _ pin: (UnsafePointer<nc_trust_result>, Int) -> UnsafePointer<CChar>
        ) -> [String] {
            (0..<Int(min(count, NC_TRUST_RESULT_MAX_PINS))).map { unsafe String(cString: pin(trustResult, $0)) }
        }
        let chainPins = unsafe pins(raw.chain_count, nc_trust_result_chain_pin).filter { !$0.isEmpty }
        let policyPins = unsafe pins(raw.pin_count, nc_trust_result_pin).filter { !$0.isEmpty }
        let line = unsafe withUnsafeBytes(of: raw.message) { unsafe String(nulTerminated: $0) }
        self.init(
            refusal: code(raw.status), finding: code(raw.finding),
            flags: Set(Flag.allCases.filter { raw.notes & $0.rawValue != 0 }),
            isVerified: raw.is_verified, chainPins: chainPins, policyPins: policyPins,
            message: raw.finding == .NC_ERR_PIN_MISMATCH
                ? Self.withAllPins(line, chainPins: chainPins, policyPins: policyPins) : line)
    }

    /// Returns the message of a pin mismatch with all pins. The message of the core has space for a few pins only.
    private static func withAllPins(_ line: String, chainPins: [String], policyPins: [String]) -> String {
        guard let cut = line.firstRange(of: " (the chain") else { return line }
        let chain = chainPins.joined(separator: ", ")
        return line[..<cut.lowerBound] + " (the chain has \(chain); the policy requires "
            + policyPins.joined(separator: ", ") + ")"
    }
}

extension TrustEvent {
    init(_ event: UnsafePointer<nc_trust_event>) {
        let raw = unsafe event.pointee
        let chain = unsafe UnsafeBufferPointer(start: raw.chain, count: raw.chain_count)
        self.init(
            host: unsafe raw.host.text, port: Int(unsafe raw.port), trustResult: unsafe TrustResult(raw.verdict),
            chain: unsafe chain.map { unsafe $0.copy }, unreported: Int(clamping: unsafe raw.unreported))
    }
}

extension TrustObserver {
    /// The C value of the observer, with a retained reference that the C policy releases.
    func cValue(allowsOverride: Bool) -> nc_trust_observer {
        unsafe nc_trust_observer(
            ctx: Unmanaged.passRetained(self).toOpaque(), report: report == nil ? nil : observerReport,
            decide: decide == nil ? nil : observerDecide, release: observerRelease, allows_override: allowsOverride)
    }
}

// SAFETY: include/netcore/trust_result.h: an event is valid during the call, and `release` is called once, after all
// other calls.

private func observerReport(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<nc_trust_event>) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TrustObserver>.fromOpaque(context).takeUnretainedValue().report?(TrustEvent(event))
}

private func observerDecide(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<nc_trust_event>) -> Bool {
    guard let context = unsafe context else { return false }
    return unsafe Unmanaged<TrustObserver>.fromOpaque(context).takeUnretainedValue().decide?(TrustEvent(event)) ?? false
}

private func observerRelease(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TrustObserver>.fromOpaque(context).release()
}

extension Certificate {
    /// Returns the certificates in PEM text, or in a sequence of DER certificates. At most 100 certificates and 1 MiB
    /// are accepted.
    ///
    /// - Throws: `tlsCertificate` if there is no certificate, or if one cannot be read.
    package static func read(_ bytes: [UInt8]) throws(NetError) -> [Certificate] {
        var error = nc_error()
        var list: OpaquePointer?
        let status = unsafe Bytes(bytes).withSlice { unsafe nc_certificates_read(&list, $0, &error) }
        guard status == .NC_OK, let list = unsafe list else { throw NetError(error) }
        // SAFETY: include/netcore/certificate.h: this function owns the list. Its contents are copied before the list
        // is freed.
        defer { unsafe nc_certificates_free(list) }
        return (0..<(unsafe nc_certificates_count(list))).map { index in
            unsafe Certificate(nc_certificates_at(list, index))
        }
    }

    private init(_ raw: nc_certificate) {
        func date(_ seconds: Int64) -> Date? {
            seconds == .min ? nil : Date(timeIntervalSince1970: Double(seconds))
        }
        self.init(
            subject: unsafe raw.subject.text, issuer: unsafe raw.issuer.text, names: unsafe raw.names.text,
            key: unsafe raw.key.text, begins: unsafe date(raw.begins_at_s), ends: unsafe date(raw.ends_at_s),
            isAuthority: unsafe raw.is_authority,
            pin: unsafe withUnsafeBytes(of: raw.pin) { unsafe String(nulTerminated: $0) },
            der: unsafe raw.der.copy)
    }
}

extension nc_slice {
    /// A copy of the bytes.
    var copy: [UInt8] {
        guard let data = unsafe self.data else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: data, count: length))
    }
}

extension String {
    /// Creates a String from C text, up to the first NUL or the end of the buffer.
    init(nulTerminated bytes: UnsafeRawBufferPointer) {
        unsafe self.init(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
