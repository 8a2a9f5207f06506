import NetKit

/// The parts of a URL, without decoding or validation.
///
/// The URL is split in the same way as in libcurl, whose delimiters are bytes. Therefore scalars are compared: "/" and
/// a combining mark would form one Character, which does not equal "/".
struct URLText {
    /// The scheme including "://". Empty if there is none.
    let scheme: String
    /// The name and the password, or `nil` if there are none.
    let login: String?
    /// The host and the port.
    let hostAndPort: String
    /// The path, the query and the fragment.
    let rest: String

    init(_ url: String) {
        let scalars = url.unicodeScalars
        let start = Self.endOfScheme(in: scalars)
        let end = scalars[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? scalars.endIndex
        let atSign = scalars[start..<end].lastIndex(of: "@")
        scheme = String(scalars[..<start])
        login = atSign.map { String(scalars[start..<$0]) }
        hostAndPort = String(scalars[(atSign.map { scalars.index(after: $0) } ?? start)..<end])
        rest = String(scalars[end...])
    }

    var withoutLogin: String { scheme + (loginContainsDelimiter ? textAfterLogin : hostAndPort + rest) }

    /// A short form for messages, without the name, the password and the query, and with at most 200 characters.
    var shown: String {
        let url = URLText(withoutLogin)
        let text = url.scheme + url.hostAndPort + url.path
        let start = text.unicodeScalars.prefix(200)
        return String(start) + (start.endIndex < text.endIndex ? "..." : "")
    }

    /// Whether the password seems to contain a "/", "?" or "#", which ended the host too early. This is assumed if the
    /// port is not a number and an "@" follows later.
    var loginContainsDelimiter: Bool {
        let port = hostAndPort.unicodeScalars.dropFirst(host.unicodeScalars.count).dropFirst()
        return !port.allSatisfy { ("0"..."9").contains($0) } && rest.unicodeScalars.contains("@")
    }

    private var textAfterLogin: String {
        guard let atSign = rest.unicodeScalars.lastIndex(of: "@") else { return rest }
        return String(rest.unicodeScalars[atSign...].dropFirst())
    }

    /// The host without the port. An IPv6 address includes its brackets.
    var host: String {
        if hostAndPort.unicodeScalars.first == "[", let end = hostAndPort.unicodeScalars.firstIndex(of: "]") {
            return String(hostAndPort.unicodeScalars[...end])
        }
        return hostAndPort.cut(atFirst: ":")?.before ?? hostAndPort
    }

    /// The path, without the query and the fragment.
    var path: String { String(rest.unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The path and the query.
    var target: String { String(rest.unicodeScalars.prefix { $0 != "#" }) }

    /// Returns the end of the scheme and the slashes after it, or the start of the URL if it has no scheme. There must
    /// be two slashes. For http and https any number is accepted, because libcurl accepts one to three.
    private static func endOfScheme(in url: String.UnicodeScalarView) -> String.Index {
        let name = url.prefix {
            $0.isASCII && ($0.properties.isAlphabetic || "0123456789+-.".unicodeScalars.contains($0))
        }
        let isName = name.first.map { $0.properties.isAlphabetic } ?? false
        guard isName, name.endIndex < url.endIndex, url[name.endIndex] == ":" else { return url.startIndex }
        let slashes = url[url.index(after: name.endIndex)...].prefix { $0 == "/" }
        if ["http", "https"].contains(String(name).lowercased()) {
            return slashes.isEmpty ? url.startIndex : slashes.endIndex
        }
        return slashes.count < 2 ? url.startIndex : url.index(slashes.startIndex, offsetBy: 2)
    }
}
