/// The cookies of a jar at one moment, in bytes: values need not be UTF-8.
struct JarCookies: Sendable {
    fileprivate struct Line: Sendable {
        /// The canonical host that gets the cookie; nil where the jar has no host there, and then every host gets it.
        var domain: String?
        var includesSubdomains: Bool
        /// All that the cookie is, except for its end.
        var shown: [UInt8]
    }

    private let lines: [Line]

    /// - Parameter text: lines of the Netscape format.
    init(netscape text: [UInt8]) {
        lines = text.split(separator: UInt8(ascii: "\n")).compactMap { Self.read($0) }
    }

    private static func read(_ line: ArraySlice<UInt8>) -> Line? {
        let prefix = Array("#HttpOnly_".utf8)
        let rest = line.starts(with: prefix) ? line.dropFirst(prefix.count) : line
        guard let first = rest.first, first != UInt8(ascii: "#") else { return nil }
        var fields = rest.split(separator: UInt8(ascii: "\t"), maxSplits: 6, omittingEmptySubsequences: false)
        guard fields.count > 5 else { return nil }
        let domain = String(decoding: fields[0].drop { $0 == UInt8(ascii: ".") }, as: UTF8.self)
        let includesSubdomains = fields[1].first == UInt8(ascii: "T")
        fields.remove(at: 4)
        return Line(
            domain: domain.canonicalHost, includesSubdomains: includesSubdomains,
            shown: Array(fields.joined(separator: [UInt8(ascii: "\t")])))
    }

    /// The cookies that any of these canonical hosts may get, in an order of their own.
    func shown(to hosts: Set<String>) -> [[UInt8]] {
        lines.filter { line in hosts.contains { line.isFor($0) } }.map(\.shown)
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension JarCookies.Line {
    fileprivate func isFor(_ host: String) -> Bool {
        guard let domain else { return true }
        return host == domain || (includesSubdomains && host.hasSuffix("." + domain))
    }
}
