extension String {
    /// The part between the scheme and the path, with and without a name and a password in front.
    private var authority: (scheme: Substring, host: Substring)? {
        guard let mark = firstRange(of: "://") else { return nil }
        let end = self[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? endIndex
        let whole = self[mark.upperBound..<end]
        let host = whole.lastIndex(of: "@").map { whole[whole.index(after: $0)...] } ?? whole
        return (self[..<mark.lowerBound], host)
    }

    /// Scheme, host and port alike; an empty URL is a stub's and stands for any.
    package func hasSameOrigin(as other: String) -> Bool {
        guard !other.isEmpty else { return true }
        func origin(_ url: String) -> String? {
            guard let (scheme, host) = url.authority else { return nil }
            let port = scheme.lowercased() == "https" ? ":443" : ":80"
            let name = host.hasSuffix(port) ? host.dropLast(port.count) : host
            return "\(scheme)://\(name)".lowercased()
        }
        return origin(self) == origin(other)
    }

    /// The URL without a name and a password in it.
    package var withoutUserinfo: String {
        guard let (scheme, host) = authority else { return self }
        return "\(scheme)://" + self[host.startIndex...]
    }
}
