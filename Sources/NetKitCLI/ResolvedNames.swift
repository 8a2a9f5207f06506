import NetKit

/// The addresses of --resolve, with curl's rules: the last entry for a name and port applies, and a name takes
/// precedence over "*".
struct ResolvedNames {
    private let entries: [AddressOverride]

    /// - Parameter given: the entries, each with its port. An entry without a host applies to all hosts.
    init(_ given: [AddressOverride]) {
        var last: [AddressOverride] = []
        for entry in given.reversed() where !last.contains(where: { Self.isOne($0, entry) }) {
            last.append(entry)
        }
        entries = last.filter { $0.host != nil } + last.filter { $0.host == nil }
    }

    /// Returns a proxy's URL with the address of its host. An https proxy keeps its name, which its certificate must
    /// match.
    func addressed(proxy url: String) -> String {
        let written = WrittenURL(url)
        let name = written.host
        let port = UInt16(written.place.dropFirst(name.count + 1)) ?? Self.proxyPort
        let entry = entries.first { $0.port == port && ($0.host == nil || Self.isOne($0.host, name)) }
        guard written.scheme.lowercased() != "https://", let address = entry?.toHost else { return url }
        return "\(written.scheme)\(address.contains(":") ? "[\(address)]" : address):\(port)"
    }

    /// curl's default port of a proxy.
    private static let proxyPort: UInt16 = 1080

    /// Returns the names that nk itself resolves. Most proxies resolve the names, except for hosts that bypass the
    /// proxy.
    ///
    /// - Parameters:
    ///   - proxy: the proxy's URL; `nil` without one.
    ///   - hosts: the value of --noproxy.
    func lookedUp(through proxy: String?, except hosts: [String]) -> ResolvedNames {
        let scheme = proxy.map { WrittenURL($0).scheme.lowercased() }
        if scheme == nil || scheme == "socks4://" || scheme == "socks5://" || hosts.contains("*") {
            return self
        }
        return ResolvedNames(
            entries.reversed().flatMap { entry -> [AddressOverride] in
                guard let host = entry.host else {
                    return hosts.map { AddressOverride(host: Self.bare($0), port: entry.port, toHost: entry.toHost) }
                }
                return hosts.contains { Self.covers($0, host) } ? [entry] : []
            })
    }

    /// Returns the overrides of connections; the first match applies. --connect-to is applied first, then the address
    /// of the resulting name.
    func overrides(behind connections: [AddressOverride]) -> [AddressOverride] {
        connections.flatMap { connection in addressed(connection) + [connection] } + entries
    }

    private func addressed(_ connection: AddressOverride) -> [AddressOverride] {
        let host = connection.toHost ?? connection.host
        let port = connection.toPort ?? connection.port
        return entries.filter { entry in
            (port == nil || entry.port == port) && (host == nil || entry.host == nil || Self.isOne(host, entry.host))
        }.map { entry in
            // An open host or port of the connection is restricted to that of the name.
            AddressOverride(
                host: connection.host ?? (connection.toHost == nil ? entry.host : nil),
                port: connection.port ?? (connection.toPort == nil ? entry.port : nil),
                toHost: entry.toHost, toPort: connection.toPort)
        }
    }

    private static func isOne(_ entry: AddressOverride, _ other: AddressOverride) -> Bool {
        entry.port == other.port && isOne(entry.host, other.host)
    }

    private static func isOne(_ host: String?, _ other: String?) -> Bool {
        host?.lowercased() == other?.lowercased()
    }

    /// Normalizes a name as libcurl does for --noproxy.
    private static func bare(_ name: String) -> String {
        let name = name.lowercased().drop { $0 == "." }
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    /// Whether --noproxy lists a host. Addresses may also match by a network prefix.
    static func isNamed(_ host: String, in hosts: [String]) -> Bool {
        hosts == ["*"] || hosts.contains { covers($0, host) }
    }

    /// A name also matches its subdomains.
    private static func covers(_ name: String, _ host: String) -> Bool {
        let (name, host) = (bare(name), bare(host))
        return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
}
