#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TrustPolicy {
    /// Returns the mark of the policy in cache keys: a digest of all its settings, the same in every process; `nil` for
    /// the default policy, whose keys have no mark.
    ///
    /// Not included are the client certificate, which identifies the user, and an observer that only listens. Files are
    /// identified by their paths.
    func cacheMark() throws(NetError) -> String? {
        var said = self
        said.identity = nil
        if observer?.decide == nil {
            said.observer = nil
        }
        if said == TrustPolicy() {
            return nil
        }
        var terms = MarkedTerms()
        said.put(in: &terms)
        return Bytes(Array(try Digest.of(Bytes(terms.bytes), .sha256))).hexText
    }

    private func put(in terms: inout MarkedTerms) {
        switch roots {
        case .system: terms.put("system")
        case .file(let path): terms.put("file", path)
        case .pem(let bytes): terms.put("pem", bytes)
        case .pinned: terms.put("pinned")
        }
        terms.put("\(minimumVersion) \(maximumVersion.map { "\($0)" } ?? "newest")")
        terms.put(
            "\([acceptsAnything, acceptsInvalidChains, skipsNameCheck, requiresStaple, usesALPN, allowsOverride])")
        if isStrict || maximumChainLength != nil {
            terms.put("form", "\(isStrict) \(maximumChainLength ?? 0)")
        }
        for text in [revocationLists, ciphers, cipherSuites] {
            terms.put(text == nil ? "none" : "some", text ?? "")
        }
        // Its decisions are unknown and may change in the next process.
        terms.put("observer", observer?.mark ?? "")
        for rule in rules {
            rule.put(in: &terms)
        }
    }
}

extension PinRule {
    fileprivate func put(in terms: inout MarkedTerms) {
        terms.put("rule", hosts)
        terms.put("\(mode) \([lapses, reportsOnly]) \(minimumPins) \(pins.count)")
        terms.put(expiry.map { "\($0.timeIntervalSince1970)" } ?? "never")
        for pin in pins {
            switch pin {
            case .hash(let text): terms.put("hash", text)
            case .bytes(let bytes): terms.put("bytes", bytes)
            }
        }
    }
}

/// Terms in sequence, each preceded by its length.
private struct MarkedTerms {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ name: String, _ text: String = "") {
        put(name, Array(text.utf8))
    }

    mutating func put(_ name: String, _ value: [UInt8]) {
        for part in [Array(name.utf8), value] {
            bytes += Array("\(part.count):".utf8) + part
        }
    }
}
