/// The parts of an absolute URL as they are written, without decoding.
///
/// The text is searched by Unicode scalars: a "/" that is followed by a combining mark is one Character that does not
/// equal "/".
struct WrittenURL {
    /// The text before the path: the scheme, "://" and the authority. Empty if the URL is not absolute.
    let root: String
    /// The path, with its leading "/".
    let path: String
    /// The text between "?" and the fragment.
    let query: String?

    /// Splits a URL.
    init(_ url: String) {
        var rest = url.unicodeScalars.prefix { $0 != "#" }
        let scheme = rest.prefix { $0 != ":" && $0 != "/" && $0 != "?" }
        if rest.dropFirst(scheme.count).starts(with: "://".unicodeScalars) {
            let authority = rest.dropFirst(scheme.count + 3).prefix { $0 != "/" && $0 != "?" }
            root = String(rest[..<authority.endIndex])
            rest = rest[authority.endIndex...]
        } else {
            root = ""
        }
        let path = rest.prefix { $0 != "?" }
        self.path = String(path)
        query = path.endIndex == rest.endIndex ? nil : String(rest[path.endIndex...].dropFirst())
    }

    /// Path and query: the target of a request (RFC 9112, 3.2.1).
    var target: String {
        let path = path.isEmpty ? "/" : path
        return query.map { "\(path)?\($0)" } ?? path
    }

    /// The host as written, and the port unless it is the scheme's default: the value of the Host field.
    var hostField: String {
        let isSecure = root.lowercased().hasPrefix("https:")
        let authority = root.unicodeScalars.drop { $0 != "/" }.dropFirst(2)
        let hostAndPort = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        guard let colon = hostAndPort.lastIndex(of: ":"), !hostAndPort[colon...].contains("]") else {
            return String(hostAndPort)
        }
        guard let port = Int(String(hostAndPort[colon...].dropFirst())), port != (isSecure ? 443 : 80) else {
            return String(hostAndPort[..<colon])
        }
        return "\(String(hostAndPort[..<colon])):\(port)"
    }

    /// The names in the query. Of a nested parameter such as `a[b]`, it is the outer name.
    var queryNames: Set<String> {
        let pairs = (query ?? "").unicodeScalars.split(separator: "&")
        let names = pairs.map { pair in
            String(pair.prefix { $0 != "=" }).replacing("%5B", with: "[").unicodeScalars.prefix { $0 != "[" }
        }
        return Set(names.map { String($0) })
    }
}
