import NetKit

/// The names that --resolve gives addresses, as curl takes them: of several for one name and port the last one counts, and
/// a name goes before "*".
struct ResolvedNames {
    private let entries: [AddressOverride]

    /// - Parameter given: each with its port; without a host it is for all.
    init(_ given: [AddressOverride]) {
        var last: [AddressOverride] = []
        for entry in given.reversed() where !last.contains(where: { Self.isOne($0, entry) }) {
            last.append(entry)
        }
        entries = last.filter { $0.host != nil } + last.filter { $0.host == nil }
    }

    /// A proxy's URL with the address that its name has been given. One over https keeps its name: its certificate is
    /// for that.
    func addressed(proxy url: String) -> String {
        let written = WrittenURL(url)
        let name = written.host
        let port = UInt16(written.place.dropFirst(name.count + 1)) ?? Self.proxyPort
        let entry = entries.first { $0.port == port && ($0.host == nil || Self.isOne($0.host, name)) }
        guard written.scheme.lowercased() != "https://", let address = entry?.toHost else { return url }
        return "\(written.scheme)\(address.contains(":") ? "[\(address)]" : address):\(port)"
    }

    /// Where a proxy listens whose URL has no port, as curl takes it.
    private static let proxyPort: UInt16 = 1080

    /// Those that nk itself looks up: most proxies are told the name, but for hosts that are asked without them.
    ///
    /// - Parameters:
    ///   - proxy: its URL; nil without one.
    ///   - hosts: what --noproxy says.
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

    /// Where connections go, of which the first that fits counts: elsewhere as --connect-to says, and then to the address
    /// that the name there has.
    func overrides(behind connections: [AddressOverride]) -> [AddressOverride] {
        connections.flatMap { connection in addressed(connection) + [connection] } + entries
    }

    private func addressed(_ connection: AddressOverride) -> [AddressOverride] {
        let host = connection.toHost ?? connection.host
        let port = connection.toPort ?? connection.port
        return entries.filter { entry in
            (port == nil || entry.port == port) && (host == nil || entry.host == nil || Self.isOne(host, entry.host))
        }.map { entry in
            // What the connection leaves open is what the name is known for.
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

    /// As libcurl takes a name in --noproxy.
    private static func bare(_ name: String) -> String {
        let name = name.lowercased().drop { $0 == "." }
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    /// Whether --noproxy says that a host is asked without the proxy; of addresses it may say more.
    static func isNamed(_ host: String, in hosts: [String]) -> Bool {
        hosts == ["*"] || hosts.contains { covers($0, host) }
    }

    /// It stands for the hosts of its domain as well.
    private static func covers(_ name: String, _ host: String) -> Bool {
        let (name, host) = (bare(name), bare(host))
        return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
}
