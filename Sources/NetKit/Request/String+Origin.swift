extension String {
    /// The part between the scheme and the path, with and without a name and a password in front.
    private var authority: (scheme: Substring, host: Substring)? {
        // By bytes: a search by characters costs more than all else that is done with the URL.
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

    /// Scheme, host and port alike; an empty URL is a stub's and stands for any.
    package func hasSameOrigin(as other: String) -> Bool {
        guard !other.isEmpty else { return true }
        return origin == other.origin
    }

    /// Scheme, canonical host, and the port where it is not the scheme's own; nil where there is no host. What is no
    /// http or https URL with a host that can be stays as it is written, in lower case.
    var origin: String? {
        if let canonical = canonicalOrigin {
            return canonical
        }
        guard let (scheme, place) = schemeAndPlace else { return nil }
        return "\(scheme)://\(place)".lowercased()
    }

    /// What the Host field says: the host as it is written, and the port where it is not the scheme's own; nil where
    /// there is no host.
    var hostField: Substring? { schemeAndPlace?.place }

    private var schemeAndPlace: (scheme: Substring, place: Substring)? {
        guard let (scheme, host) = authority else { return nil }
        let port = scheme.lowercased() == "https" ? ":443" : ":80"
        return (scheme, host.hasSuffix(port) ? host.dropLast(port.count) : host)
    }

    /// The URL without a name and a password in it.
    package var withoutUserinfo: String {
        guard mayHaveUserinfo, let (scheme, host) = authority else { return self }
        return "\(scheme)://" + self[host.startIndex...]
    }

    /// The URL up to its query or fragment. By scalars, as ``cut(atFirst:)`` looks for marks.
    var withoutQuery: Substring { Substring(unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The URL up to its query and without a name and a password: no message should tell what secrets they hold.
    var shownPlace: String { String(withoutUserinfo.withoutQuery) }

    /// Whether there is a name or a password in front of its host.
    var hasUserinfo: Bool { mayHaveUserinfo && withoutUserinfo.utf8.count != utf8.count }

    /// The URL with the name and the password of another one, where it has none of its own.
    func withUserinfo(of other: String) -> String {
        guard other.hasUserinfo, !hasUserinfo, let (scheme, host) = authority,
            let (otherScheme, otherHost) = other.authority
        else { return self }
        let userinfo = other[otherScheme.endIndex..<otherHost.startIndex]  // From "://" to "@".
        return "\(scheme)\(userinfo)" + self[host.startIndex...]
    }

    // By bytes in a row: every call asks.
    private var mayHaveUserinfo: Bool {
        let bytes = utf8.span
        return bytes.indices.contains { bytes[$0] == UInt8(ascii: "@") }
    }
}
