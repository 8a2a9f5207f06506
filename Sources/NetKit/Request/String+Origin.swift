extension String {
    /// The part between the scheme and the path, and its host without name and password.
    private var authority: (scheme: Substring, host: Substring)? {
        // A search by bytes: one by characters would cost more than everything else that is done with the URL.
        let bytes = utf8
        var rest = bytes[...]
        while let colon = rest.firstIndex(of: UInt8(ascii: ":")) {
            rest = rest[bytes.index(after: colon)...]
            guard rest.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) else { continue }
            rest = rest.dropFirst(2)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
            rest = rest[..<(end ?? bytes.endIndex)]
            let start = rest.lastIndex(of: UInt8(ascii: "@")).map { bytes.index(after: $0) } ?? rest.startIndex
            return (self[..<colon], self[start..<rest.endIndex])
        }
        return nil
    }

    /// Returns true if scheme, host and port are equal. An empty URL belongs to a stub and matches any.
    package func hasSameOrigin(as other: String) -> Bool {
        guard !other.isEmpty else { return true }
        return origin == other.origin
    }

    /// Scheme, canonical host, and the port unless it is the scheme's default; `nil` without a host. A URL that is
    /// neither http nor https, or has an invalid host, keeps its spelling in lower case.
    var origin: String? {
        if let canonical = canonicalOrigin {
            return canonical
        }
        guard let (scheme, place) = schemeAndPlace else { return nil }
        return "\(scheme)://\(place)".lowercased()
    }

    /// The value of the Host field: the host as written, and the port unless it is the scheme's default; `nil` without
    /// a host.
    var hostField: Substring? { schemeAndPlace?.place }

    private var schemeAndPlace: (scheme: Substring, place: Substring)? {
        guard let (scheme, host) = authority else { return nil }
        let port = scheme.lowercased() == "https" ? ":443" : ":80"
        return (scheme, host.hasSuffix(port) ? host.dropLast(port.count) : host)
    }

    /// The URL without name and password.
    package var withoutUserinfo: String {
        guard mayHaveUserinfo, let (scheme, host) = authority else { return self }
        return "\(scheme)://" + self[host.startIndex...]
    }

    /// The URL up to its query or fragment. Searches scalars, as ``cut(atFirst:)``.
    var withoutQuery: Substring { Substring(unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The URL without query, name and password, for messages: these may contain secrets.
    var shownPlace: String { String(withoutUserinfo.withoutQuery) }

    /// Whether there is a name or a password before the host.
    var hasUserinfo: Bool { mayHaveUserinfo && withoutUserinfo.utf8.count != utf8.count }

    /// Returns the URL with the name and the password of another one, if it has none itself.
    func withUserinfo(of other: String) -> String {
        guard other.hasUserinfo, !hasUserinfo, let (scheme, host) = authority,
            let (otherScheme, otherHost) = other.authority
        else { return self }
        let userinfo = other[otherScheme.endIndex..<otherHost.startIndex]  // From "://" to "@".
        return "\(scheme)\(userinfo)" + self[host.startIndex...]
    }

    // A contiguous scan of bytes, because every call uses this.
    private var mayHaveUserinfo: Bool {
        let bytes = utf8.span
        return bytes.indices.contains { bytes[$0] == UInt8(ascii: "@") }
    }
}
