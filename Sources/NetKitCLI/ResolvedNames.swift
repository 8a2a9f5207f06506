import NetKit

/// The addresses of --resolve, with curl's rules. If there are several entries for a name and port, the last one
/// applies. An entry for a name takes precedence over one for "*".
struct ResolvedNames {
    private let entries: [AddressOverride]

    /// - Parameter given: the values of --resolve in order. Each has a port. An entry without a host applies to all
    ///   hosts.
    init(_ given: [AddressOverride]) {
        var kept: [AddressOverride] = []
        for entry in given.reversed() where !kept.contains(where: { Self.isEqual($0, entry) }) {
            kept.append(entry)
        }
        entries = kept.filter { $0.host != nil } + kept.filter { $0.host == nil }
    }

    /// Returns the URL of a proxy with its host replaced by the address, if there is an entry for it. The host of an
    /// https proxy is not replaced, because the proxy's certificate must match it.
    func addressed(proxy url: String) -> String {
        let proxyURL = URLText(url)
        let name = proxyURL.host
        let port = UInt16(proxyURL.hostAndPort.dropFirst(name.count + 1)) ?? Self.proxyPort
        let entry = entries.first { $0.port == port && ($0.host == nil || Self.isEqual($0.host, name)) }
        guard proxyURL.scheme.lowercased() != "https://", let address = entry?.toHost else { return url }
        return "\(proxyURL.scheme)\(address.contains(":") ? "[\(address)]" : address):\(port)"
    }

    /// The default port of a proxy in curl.
    private static let proxyPort: UInt16 = 1080

    /// Returns the entries for the names that nk resolves itself. If the proxy resolves names, these are only the names
    /// of hosts that bypass the proxy.
    ///
    /// - Parameters:
    ///   - proxy: the URL of the proxy, or `nil` if there is none.
    ///   - hosts: the value of --noproxy.
    func lookedUp(through proxy: String?, except hosts: [String]) -> ResolvedNames {
        let scheme = proxy.map { URLText($0).scheme.lowercased() }
        if scheme == nil || scheme == "socks4://" || scheme == "socks5://" || hosts.contains("*") {
            return self
        }
        return ResolvedNames(
            entries.reversed().flatMap { entry -> [AddressOverride] in
                guard let host = entry.host else {
                    return hosts.map {
                        AddressOverride(host: Self.normalized($0), port: entry.port, toHost: entry.toHost)
                    }
                }
                return hosts.contains { Self.covers($0, host) } ? [entry] : []
            })
    }

    /// Returns the address overrides for requests, of which the first match applies. --connect-to is applied first.
    /// Then the entry for the resulting name and port determines the address.
    func overrides(behind connections: [AddressOverride]) -> [AddressOverride] {
        connections.flatMap { connection in addressed(connection) + [connection] } + entries
    }

    private func addressed(_ connection: AddressOverride) -> [AddressOverride] {
        let host = connection.toHost ?? connection.host
        let port = connection.toPort ?? connection.port
        return entries.filter { entry in
            (port == nil || entry.port == port) && (host == nil || entry.host == nil || Self.isEqual(host, entry.host))
        }.map { entry in
            // If --connect-to leaves the host or the port open, the override is restricted to those of the entry.
            AddressOverride(
                host: connection.host ?? (connection.toHost == nil ? entry.host : nil),
                port: connection.port ?? (connection.toPort == nil ? entry.port : nil),
                toHost: entry.toHost, toPort: connection.toPort)
        }
    }

    private static func isEqual(_ entry: AddressOverride, _ other: AddressOverride) -> Bool {
        entry.port == other.port && isEqual(entry.host, other.host)
    }

    private static func isEqual(_ host: String?, _ other: String?) -> Bool {
        host?.lowercased() == other?.lowercased()
    }

    /// Returns a name in the form in which libcurl compares it for --noproxy.
    private static func normalized(_ name: String) -> String {
        let name = name.lowercased().drop { $0 == "." }
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    /// Returns true if --noproxy lists a host by its name. (libcurl also supports network prefixes, which are not
    /// checked here.)
    static func isNamed(_ host: String, in hosts: [String]) -> Bool {
        hosts == ["*"] || hosts.contains { covers($0, host) }
    }

    /// Returns true if a name in --noproxy matches a host. A name also matches its subdomains.
    private static func covers(_ name: String, _ host: String) -> Bool {
        let (name, host) = (normalized(name), normalized(host))
        return !name.isEmpty && (host == name || host.hasSuffix("." + name))
    }
}
