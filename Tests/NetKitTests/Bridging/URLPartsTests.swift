import Testing

@testable import NetKit

/// The table of the core's test of nc_url_split(), as far as Swift has the part.
struct URLPartsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let url: String
        let scheme: String
        let host: String?
        let port: Int?
        let path: String
        let query: String?
        var testDescription: String { url }
    }

    @Test(arguments: [
        Row(url: "http://h", scheme: "http", host: "h", port: nil, path: "", query: nil),
        Row(url: "HTTPS://H:8443/a/b?c#d", scheme: "HTTPS", host: "H", port: 8443, path: "/a/b", query: "c"),
        Row(url: "http://u:p@h:1/", scheme: "http", host: "h", port: 1, path: "/", query: nil),
        Row(url: "http://u@p@h/", scheme: "http", host: "h", port: nil, path: "/", query: nil),
        Row(url: "http://@h:/?#", scheme: "http", host: "h", port: nil, path: "/", query: ""),
        Row(url: "http://u:p@[::1]:080/x", scheme: "http", host: "[::1]", port: 80, path: "/x", query: nil),
        Row(
            url: "http://[fe80::1%25eth0]/", scheme: "http", host: "[fe80::1%25eth0]", port: nil, path: "/", query: nil),
        Row(url: "http://[::1]x:80/", scheme: "http", host: "[::1]x:80", port: nil, path: "/", query: nil),
        Row(url: "http://h:8a/", scheme: "http", host: "h", port: nil, path: "/", query: nil),
        Row(url: "http://h?u@v", scheme: "http", host: "h", port: nil, path: "", query: "u@v"),
        Row(url: "http://h#u@v?w", scheme: "http", host: "h", port: nil, path: "", query: nil),
        Row(url: "http://h/a@b:c", scheme: "http", host: "h", port: nil, path: "/a@b:c", query: nil),
        Row(
            url: "http://b\u{FC}.example./", scheme: "http", host: "b\u{FC}.example.", port: nil, path: "/", query: nil),
        Row(
            url: "http://h/\u{338}x?\u{338}y", scheme: "http", host: "h", port: nil, path: "/\u{338}x",
            query: "\u{338}y"),
        Row(url: "//u:p@h/x", scheme: "", host: "h", port: nil, path: "/x", query: nil),
        Row(url: "x/y?z", scheme: "", host: nil, port: nil, path: "x/y", query: "z"),
        Row(url: "", scheme: "", host: nil, port: nil, path: "", query: nil),
    ])
    func textIsSplitIntoItsParts(row: Row) {
        let parts = URLParts(row.url)
        #expect(parts.scheme == row.scheme)
        #expect(parts.host == row.host)
        #expect(parts.port == row.port)
        #expect(parts.path.unicodeScalars.elementsEqual(row.path.unicodeScalars))
        #expect(parts.query.map { Array($0.unicodeScalars) } == row.query.map { Array($0.unicodeScalars) })
    }

    @Test(arguments: [
        ("http://h", "/"), ("http://H:80/a?b#c", "/a?b"), ("http://h:443?", "/?"), ("https://u:p@[::1]:81/x", "/x"),
    ])
    func targetIsPathAndQuery(url: String, target: String) {
        #expect(URLParts(url).target == target)
    }

    @Test(arguments: [
        ("http://H.test.:080/a", "http://h.test"), ("https://u:p@%68.test:443", "https://h.test"),
        ("http://b\u{FC}cher.test:81/", "http://xn--bcher-kva.test:81"), ("HTTP://0x7f.1/", "http://127.0.0.1"),
        ("http://[0:0:0::1]:80/", "http://[::1]"), ("http://[::ffff:1.2.3.4]/", "http://1.2.3.4"),
        ("http://BAD<host/x", "http://bad<host"), ("socks5://u:p@Proxy:1080", "socks5://proxy:1080"),
        ("http://h:99999/", "http://h:99999"), ("/path", nil), ("", nil),
    ])
    func originHasACanonicalHost(url: String, origin: String?) {
        #expect(url.origin == origin)
    }

    @Test(arguments: [
        ("http://a.test/x", "HTTP://A.TEST.:080", true), ("http://a.test", "https://a.test", false),
        ("http://a.test", "http://a.test:81", false), ("http://u@a.test", "http://v:w@a.test", true),
        ("http://127.1", "http://127.0.0.1", true), ("http://[::1]", "http://[0::1]:80", true),
        ("http://a.test", "", true), ("", "http://a.test", false), ("http://a<b/", "http://A<B/", true),
        ("http://a<b/", "http://a<c/", false), ("/a", "/b", true), ("/a", "http://a.test", false),
    ])
    func originsAreCompared(url: String, other: String, isSame: Bool) {
        #expect(url.hasSameOrigin(as: other) == isSame)
    }

    @Test(arguments: [
        ("http://u:p@h/x", "http://h/x"), ("http://u@p@h", "http://h"), ("http://@h/", "http://h/"),
        ("ht tp://u:p@h/", "ht tp://h/"), ("http://h/u:p@x", "http://h/u:p@x"), ("http://h?u@v", "http://h?u@v"),
        ("u:p@h", "u:p@h"), ("", ""), ("http://u:\u{338}p@h", "http://h"), ("http://u@\u{338}h", "http://\u{338}h"),
    ])
    func userinfoIsRemoved(url: String, bare: String) {
        #expect(url.withoutUserinfo.unicodeScalars.elementsEqual(bare.unicodeScalars))
        #expect(url.hasUserinfo == (url.utf8.count != bare.utf8.count))
    }

    @Test(arguments: [
        ("http://h/x", "http://u:p@i/", "http://u:p@h/x"), ("http://v@h/x", "http://u:p@i/", "http://v@h/x"),
        ("http://h/x", "http://i/", "http://h/x"), ("http://[::1]:81", "http://u@i", "http://u@[::1]:81"),
    ])
    func userinfoIsCopied(url: String, other: String, expected: String) {
        #expect(url.withUserinfo(of: other) == expected)
    }

    @Test func longURLKeepsItsText() {
        let long = "http://h/" + String(repeating: "x", count: 70_000)
        #expect(long.withUserinfo(of: "http://u:p@h/") == long)
        #expect(URLParts(long).path.utf8.count == 70_001)
    }

    @Test(arguments: [
        ("http://h", true), ("HTTPS://h/", true), ("http:/h", false), ("ftp://h", false), ("//h", false),
        ("/http://h", false), ("http", false), ("x-http://h", false),
    ])
    func absoluteWebURLHasASchemeAndAnAuthority(url: String, isAbsolute: Bool) {
        #expect(url.isAbsoluteWebURL == isAbsolute)
    }
}
