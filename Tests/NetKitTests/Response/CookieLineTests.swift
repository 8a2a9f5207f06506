import NetKit
import Testing

/// Cookies in the Netscape format, as curl -c writes them.
struct CookieLineTests {
    @Test(arguments: [
        "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1", ".example.com\tTRUE\t/sub\tTRUE\t4102444800\tb\tx y",
        "#HttpOnly_host.test\tFALSE\t/\tFALSE\t1\tempty\t", "host.test\tFALSE\t/\tFALSE\t9007199254740993\tn\tv",
    ])
    func cookieLineRoundTrips(line: String) throws {
        #expect(try #require(Cookie(netscapeLine: line)).netscapeLine == line)
    }

    @Test func severalTabsSeparateOnce() {
        let cookie = Cookie(netscapeLine: "host.test\tFALSE\t/b\tFALSE\t0\t\tname\tvalue")
        #expect(cookie?.name == "name" && cookie?.value == "value")
    }

    @Test func anEmptyPathIsTheRoot() {
        let cookie = Cookie(netscapeLine: "host.test\tFALSE\t\tTRUE\t0\t7\tx\ty")
        #expect(cookie == nil)  // A value must not contain a tab.
        let plain = Cookie(netscapeLine: "host.test\tFALSE\t\tTRUE\t0\t7\tx")
        #expect(plain?.name == "7" && plain?.value == "x" && plain?.path == "/" && plain?.isSecure == true)
        let empty = Cookie(netscapeLine: "host.test\tFALSE\t\tFALSE\t0\tsession\t")
        #expect(empty?.name == "session" && empty?.value.isEmpty == true)
    }

    @Test(arguments: ["  ", "\t", " \t "])
    func blankLineIsIgnored(blanks: String) {
        #expect(Cookie(netscapeLine: blanks + "host.test\tFALSE\t/\tFALSE\t0\tn\tv")?.domain == "host.test")
        #expect(Cookie(netscapeLine: blanks + "#HttpOnly_host.test\tFALSE\t/\tFALSE\t0\tn\tv")?.isHTTPOnly == true)
        #expect(Cookie(netscapeLine: blanks + "# a comment") == nil)
    }

    @Test(arguments: [
        "", "a\tFALSE\t/\tFALSE\t0\tn\u{1}\tv", "a\tFALSE\t/\tFALSE\t0\tn\tv\tw", "# Netscape HTTP Cookie File",
        "a\tFALSE\t/\tFALSE\tsoon\tn\tv", "one word", ". a\tFALSE\t/\tFALSE\t0\tn\tv",
    ])
    func malformedCookieLineIsRejected(line: String) {
        #expect(Cookie(netscapeLine: line) == nil)
    }

    @Test(arguments: [
        Cookie(name: "__Secure-a", value: "1=2", domain: "host.test", path: "/a", isSecure: true),
        Cookie(name: "__Host-a", value: "1", domain: "host.test", isSecure: true),
    ])
    func validCookiePrefixIsAccepted(cookie: Cookie) throws {
        #expect(try Cookie(netscapeLine: cookie.netscapeLine)?.name == cookie.name)
    }

    @Test(arguments: [
        Cookie(name: "", value: "", domain: "host.test"), Cookie(name: "a", value: "", domain: ""),
        Cookie(name: "a", value: "1\t2", domain: "host.test"), Cookie(name: "a", value: "1", domain: " host.test"),
        Cookie(name: "a", value: "1; b=2", domain: "host.test"),
        Cookie(name: "a=1; b", value: "2", domain: "host.test"),
        Cookie(name: "a=\u{301}1", value: "2", domain: "host.test"),
        Cookie(name: "a", value: "1", domain: "host.test", path: "/;x"),
        Cookie(name: "__Secure-a", value: "1", domain: "host.test"),
        Cookie(name: "__Host-a", value: "1", domain: "host.test"),
        Cookie(name: "__host-a", value: "1", domain: "host.test", path: "/a", isSecure: true),
        Cookie(name: "__Host-a", value: "1", domain: "host.test", includesSubdomains: true, isSecure: true),
    ])
    func unrepresentableCookieIsRejected(cookie: Cookie) {
        #expect(throws: NetError.self) { try cookie.netscapeLine }
    }
}
