import NetKit

/// The parts of a URL as written, without decoding or validation.
///
/// It is split where libcurl splits it. libcurl's delimiters are bytes, so scalars are compared: "/" and a combining
/// mark form one Character, which is not "/".
struct WrittenURL {
    /// The scheme including the slashes; empty without one.
    let scheme: String
    /// The name and the password; `nil` without them.
    let login: String?
    /// The host and the port.
    let place: String
    /// The path, the query and the fragment.
    let rest: String

    init(_ url: String) {
        let scalars = url.unicodeScalars
        let start = Self.endOfScheme(in: scalars)
        let end = scalars[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? scalars.endIndex
        let at = scalars[start..<end].lastIndex(of: "@")
        scheme = String(scalars[..<start])
        login = at.map { String(scalars[start..<$0]) }
        place = String(scalars[(at.map { scalars.index(after: $0) } ?? start)..<end])
        rest = String(scalars[end...])
    }

    var withoutLogin: String { scheme + (loginIsCut ? placeBehindLogin : place + rest) }

    /// A short form for messages: without login and query, truncated to a readable length.
    var shown: String {
        let url = WrittenURL(withoutLogin)
        let text = url.scheme + url.place + url.path
        let start = text.unicodeScalars.prefix(200)
        return String(start) + (start.endIndex < text.endIndex ? "..." : "")
    }

    /// Whether a "/", "?" or "#" in a password seems to have ended the host: the port is invalid, and an "@" follows.
    var loginIsCut: Bool {
        let port = place.unicodeScalars.dropFirst(host.unicodeScalars.count).dropFirst()
        return !port.allSatisfy { ("0"..."9").contains($0) } && rest.unicodeScalars.contains("@")
    }

    private var placeBehindLogin: String {
        guard let at = rest.unicodeScalars.lastIndex(of: "@") else { return rest }
        return String(rest.unicodeScalars[at...].dropFirst())
    }

    /// The host without the port; an IPv6 address includes its brackets.
    var host: String {
        if place.unicodeScalars.first == "[", let end = place.unicodeScalars.firstIndex(of: "]") {
            return String(place.unicodeScalars[...end])
        }
        return place.cut(atFirst: ":")?.before ?? place
    }

    /// The path, without the query and the fragment.
    var path: String { String(rest.unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The path and the query.
    var target: String { String(rest.unicodeScalars.prefix { $0 != "#" }) }

    /// The end of the scheme. Two slashes follow it; for http and https any number does, because libcurl accepts one to
    /// three.
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
