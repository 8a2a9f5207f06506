internal import CNetCore
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The rules of a policy with their texts in an arena.
struct RuleTexts {
    private let rules: [PinRule]
    private let hosts: [TrustArena.Place]
    private let hashes: [[TrustArena.Place]]
    private let bytes: [[TrustArena.Place]]

    init(_ rules: [PinRule], in arena: inout TrustArena) {
        var hosts: [TrustArena.Place] = []
        var hashes: [[TrustArena.Place]] = []
        var bytes: [[TrustArena.Place]] = []
        for rule in rules {
            hosts.append(arena.put(rule.hosts))
            var ruleHashes: [TrustArena.Place] = []
            var ruleBytes: [TrustArena.Place] = []
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

    /// Calls `body` with the rules, which are valid during the call.
    func withRules(
        _ slice: (TrustArena.Place) -> nc_slice, _ body: (UnsafeMutableBufferPointer<nc_trust_rule>) -> nc_status
    ) -> nc_status {
        let pinCount = hashes.reduce(0) { $0 + $1.count } + bytes.reduce(0) { $0 + $1.count }
        return unsafe withUnsafeTemporaryAllocation(of: nc_slice.self, capacity: pinCount) { pins in
            var next = 0
            func list(_ places: [TrustArena.Place]) -> UnsafePointer<nc_slice>? {
                let start = next
                for place in places {
                    unsafe pins.initializeElement(at: next, to: slice(place))
                    next += 1
                }
                return unsafe places.isEmpty ? nil : pins.baseAddress.map { unsafe UnsafePointer($0 + start) }
            }
            return unsafe withUnsafeTemporaryAllocation(of: nc_trust_rule.self, capacity: rules.count) { made in
                for (index, rule) in rules.enumerated() {
                    var described = unsafe nc_trust_rule()
                    unsafe described.hosts = slice(hosts[index])
                    unsafe described.mode = rule.mode.cValue
                    unsafe described.pins = list(hashes[index])
                    unsafe described.pin_count = hashes[index].count
                    unsafe described.certificates = list(bytes[index])
                    unsafe described.certificate_count = bytes[index].count
                    unsafe described.expires_at_s = rule.expiry.map(Self.seconds) ?? 0
                    unsafe described.lapses = rule.lapses
                    unsafe described.reports_only = rule.reportsOnly
                    unsafe described.min_pins = rule.mode == .none ? 0 : UInt32(clamping: rule.minimumPins)
                    unsafe made.initializeElement(at: index, to: described)
                }
                return unsafe body(made)
            }
        }
    }

    /// A date at or before 1970 has passed as well.
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
