import NetKit
import NetKitTesting
import Testing

/// Default fields that an agent adds to each request without them.
struct DefaultHeadersTests {
    private func sent(_ headers: Headers = [:], _ change: (inout Agent.Configuration) -> Void = { _ in }) async throws
        -> Headers
    {
        var configuration = Agent.Configuration()
        change(&configuration)
        let stub = StubTransport { _ in Response(status: 200) }
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("http://h/", headers: headers))
        return try #require(stub.requests.first).headers
    }

    @Test func userAgentNamesProductVersionAndPlatform() async throws {
        let agent = try #require(try await sent()["User-Agent"])
        #expect(agent == Agent.Configuration.defaultUserAgent)
        #expect(agent.hasPrefix("NetKit/0.1.0 (") && agent.hasSuffix(")"))
        #expect(try await sent { $0.userAgent = nil }["User-Agent"] == nil)
        #expect(try await sent { $0.userAgent = "me/1" }["User-Agent"] == "me/1")
    }

    @Test(arguments: [
        ("Cities", "1.2", "Cities/1.2 ("), ("Städte App", "1/2", "St-dte-App/1-2 ("), ("", "", "-/- ("),
        ("a\r\nX: b", "1", "a--X--b/1 ("),
    ])
    func productConsistsOfTokens(product: String, version: String, expected: String) {
        #expect(Agent.Configuration.userAgent(product: product, version: version).hasPrefix(expected))
    }

    @Test func acceptLanguageIsOmittedByDefault() async throws {
        #expect(try await sent()["Accept-Language"] == nil)
    }

    @Test(arguments: [
        (["de"], "de;q=1"), (["de-CH", "fr"], "de-CH;q=1, fr;q=0.9"),
        (
            ["a", "b", "c", "d", "e", "f", "g", "h"],
            "a;q=1, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5"
        ),
        (["de\r\nX: y", "fr"], "fr;q=1"), (["", "*"], "*;q=1"),
    ])
    func languagesHaveQualityValues(languages: [String], expected: String) async throws {
        #expect(try await sent { $0.languages = languages }["Accept-Language"] == expected)
    }

    @Test(arguments: [
        ([:], []), (["LANG": "de_CH.UTF-8"], ["de-CH"]), (["LANG": "C"], []), (["LANG": "POSIX"], []),
        (["LANG": "C.UTF-8", "LANGUAGE": "de"], []), (["LANG": "de_DE@euro", "LC_MESSAGES": "fr_FR"], ["fr-FR"]),
        (["LC_ALL": "", "LANG": "it"], ["it"]), (["LC_ALL": "es", "LC_MESSAGES": "fr", "LANG": "de"], ["es"]),
        (["LANG": "en_US", "LANGUAGE": "de_AT:de:en_US:de"], ["de-AT", "de", "en-US"]),
        (["LANG": "en_US", "LANGUAGE": "::C"], ["en-US"]), (["LANG": "d e;q=1"], []),
        (["LANG": "abcdefghi"], []),
    ])
    func languagesAreReadFromTheGivenEnvironment(environment: [String: String], expected: [String]) {
        #expect(Agent.Configuration.languages(from: environment) == expected)
    }

    @Test func requestFieldsTakePrecedence() async throws {
        let own = try await sent(["user-agent": "me", "ACCEPT-LANGUAGE": "fr"]) { $0.languages = ["de"] }
        #expect(own.values(named: "User-Agent") == ["me"])
        #expect(own.values(named: "Accept-Language") == ["fr"])
    }

    @Test func nilRemovesAFieldOfTheAgent() async throws {
        var headers: Headers = ["X-Own": "1"]
        headers["user-agent"] = nil
        headers["Accept-Language"] = nil
        headers["X-Common"] = nil
        let own = try await sent(headers) { configuration in
            configuration.languages = ["de"]
            configuration.headers = ["X-Common": "1", "X-Other": "2"]
        }
        #expect(own.map(\.name) == ["X-Own", "X-Other"])
        headers["User-Agent"] = "again"
        #expect(try await sent(headers)["User-Agent"] == "again")
    }

    @Test func nilInTheAgentsFieldsRemovesAField() async throws {
        #expect(try await sent { $0.headers["User-Agent"] = nil }["User-Agent"] == nil)
        #expect(try await sent { $0.headers["User-Agent"] = "mine" }.values(named: "User-Agent") == ["mine"])
    }
}
