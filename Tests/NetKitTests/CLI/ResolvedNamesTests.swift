import NetKit
import Testing

@testable import NetKitCLI

/// --resolve and --connect-to together, in the order in which overrides are searched.
struct ResolvedNamesTests {
    /// Returns each override as HOST:PORT:HOST:PORT. An empty part means any, or unchanged.
    private static func texts(_ overrides: [AddressOverride]) -> [String] {
        overrides.map { one in
            let ports = [one.port, one.toPort].map { port in port.map { "\($0)" } ?? "" }
            return "\(one.host ?? ""):\(ports[0]):\(one.toHost ?? ""):\(ports[1])"
        }
    }

    private static func names(_ resolved: [String]) throws -> ResolvedNames {
        ResolvedNames(try resolved.map { try OptionValue.resolve($0) })
    }

    @Test func exactNamePrecedesWildcardAndTheLastEntryApplies() throws {
        let names = try Self.names(["*:80:1.1.1.1", "a:80:2.2.2.2", "A:80:3.3.3.3", "a:81:4.4.4.4", "*:80:5.5.5.5"])
        #expect(
            Self.texts(names.overrides(behind: [])) == ["a:81:4.4.4.4:", "A:80:3.3.3.3:", ":80:5.5.5.5:"])
    }

    @Test(arguments: [
        ("h:80:a:81", ["h:80:3.3.3.3:81", "h:80:9.9.9.9:81", "h:80:a:81"]),
        ("h:80:a:", ["h:80:1.1.1.1:", "h:80:a:"]),
        ("h::a:", ["h:81:3.3.3.3:", "h:80:1.1.1.1:", "h:81:9.9.9.9:", "h::a:"]),
        ("::a:80", ["::1.1.1.1:80", "::a:80"]),
        ("b:::81", ["b::9.9.9.9:81", "b:::81"]),
        (":::80", ["a::1.1.1.1:80", "b::2.2.2.2:80", ":::80"]),
        ("h:80:c:90", ["h:80:c:90"]),
    ])
    func connectionUsesTheMappedAddress(connection: String, expected: [String]) throws {
        let names = try Self.names(["b:80:2.2.2.2", "a:80:1.1.1.1", "a:81:3.3.3.3", "*:81:9.9.9.9"])
        let overrides = Self.texts(names.overrides(behind: [try OptionValue.connectTo(connection)]))
        #expect(Array(overrides.dropLast(4)) == expected)
        #expect(overrides.suffix(4) == ["a:81:3.3.3.3:", "a:80:1.1.1.1:", "b:80:2.2.2.2:", ":81:9.9.9.9:"])
    }

    @Test(arguments: [
        ("http://P.test", "http://1.1.1.1:1080"), ("socks5h://p.test:80", "socks5h://[::1]:80"),
        ("http://p.test:81", "http://2.2.2.2:81"), ("http://p.test:82", "http://p.test:82"),
        ("https://p.test:80", "https://p.test:80"), ("http://[::2]:81", "http://2.2.2.2:81"),
    ])
    func proxyNameIsResolved(proxy: String, expected: String) throws {
        let names = try Self.names(["p.test:1080:1.1.1.1", "p.test:80:[::1]", "*:81:2.2.2.2"])
        #expect(names.addressed(proxy: proxy) == expected)
    }

    @Test(
        arguments: [
            (nil, [], 3), ("http://p", [], 0), ("https://p", [], 0), ("socks5h://p", [], 0), ("socks4a://p", [], 0),
            ("socks5://p", [], 3), ("socks4://p", [], 3), ("http://p", ["*"], 3), ("http://p", ["b.test"], 1),
            ("http://p", [".TEST."], 3), ("http://p", ["a.test."], 1), ("http://p", ["b.test.."], 1),
            ("http://p", [".TEST"], 3), ("http://p", ["c.test"], 1), ("http://p", ["est"], 1),
        ] as [(String?, [String], Int)])
    func mostProxiesResolveNames(proxy: String?, except: [String], count: Int) throws {
        let names = try Self.names(["a.test:80:1.1.1.1", "b.test:80:2.2.2.2", "*:80:3.3.3.3"])
        #expect(names.lookedUp(through: proxy, except: except).overrides(behind: []).count == count)
    }
}
