import NetKit

/// The parts of a URL as they are written: nothing is decoded, and nothing refused.
///
/// They are cut where libcurl cuts them. Its marks are bytes, so that they are looked for among scalars: "/" with a
/// combining mark behind it is one Character, and no "/" any more.
struct WrittenURL {
    /// With the slashes behind it; empty without one.
    let scheme: String
    /// The name and the password; nil without.
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

    /// What tells it from others in a line: neither a login nor a query, and no more of it than can be read.
    var shown: String {
        let url = WrittenURL(withoutLogin)
        let text = url.scheme + url.place + url.path
        let start = text.unicodeScalars.prefix(200)
        return String(start) + (start.endIndex < text.endIndex ? "..." : "")
    }

    /// Whether a "/", "?" or "#" in a password seems to have cut it off: the port is none, and an "@" is still to come.
    var loginIsCut: Bool {
        let port = place.unicodeScalars.dropFirst(host.unicodeScalars.count).dropFirst()
        return !port.allSatisfy { ("0"..."9").contains($0) } && rest.unicodeScalars.contains("@")
    }

    private var placeBehindLogin: String {
        guard let at = rest.unicodeScalars.lastIndex(of: "@") else { return rest }
        return String(rest.unicodeScalars[at...].dropFirst())
    }

    /// Without the port; an IPv6 address in its brackets.
    var host: String {
        if place.unicodeScalars.first == "[", let end = place.unicodeScalars.firstIndex(of: "]") {
            return String(place.unicodeScalars[...end])
        }
        return place.cut(atFirst: ":")?.before ?? place
    }

    /// The rest without the query and the fragment.
    var path: String { String(rest.unicodeScalars.prefix { $0 != "?" && $0 != "#" }) }

    /// The path and the query.
    var target: String { String(rest.unicodeScalars.prefix { $0 != "#" }) }

    /// Two slashes, or for http and https as many as there are: libcurl takes one to three.
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
