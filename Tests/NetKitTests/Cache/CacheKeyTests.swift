import NetKit
import NetKitTesting
import Testing

struct CacheKeyTests {
    @Test func cacheKeyNameIs32StableHexDigits() throws {
        let key = try CacheKey(url: "http://h/")
        #expect(key.name == "3f8cc6b045463297a2c2bc693682d61c")
        #expect(key.description == Array("NK\u{1}m\u{3}GETu\u{9}http://h/".utf8))
        #expect(key.explanation == "method      GET\nurl         http://h/\n")
        #expect(try key.name == Digest.of(Bytes(key.description), .md5).hexText)
    }

    @Test(
        arguments: [
            (["a": 1, "b": 2], ["b": 2, "a": 1]), (["a": ["x": 1, "y": 2]], ["a": ["y": 2, "x": 1]]),
            (["a": .set([1, 2, 3])], ["a": .set([3, 2, 1])]), (["a": 1], ["a": 1.0]),
        ] as [(Parameters, Parameters)])
    func equivalentRequestsHaveEqualKeys(one: Parameters, other: Parameters) throws {
        let keys = try [one, other].map { try CacheKey(url: "http://h/", parameters: $0) }
        #expect(keys[0] == keys[1] && keys[0].name == keys[1].name)
    }

    @Test(
        arguments: [
            (["a": 1], ["a": "1"]), (["a": true], ["a": 1]), (["a": [1, 2]], ["a": [2, 1]]), (["a": .null], ["a": ""]),
            (["a": .null], [:]), (["a": .set([1])], ["a": [1]]), (["a": 1.5], ["a": "1.5"]), (["ab": "c"], ["a": "bc"]),
            (["a": .number("1.0")], ["a": 1]), (["a": .bytes([65])], ["a": "A"]),
            (["a": ["b": 1]], ["a": 1, "b": 1]), ([], [:]),
        ] as [(Parameters, Parameters)])
    func differentRequestsHaveDifferentKeys(one: Parameters, other: Parameters) throws {
        let keys = try [one, other].map { try CacheKey(url: "http://h/", parameters: $0) }
        #expect(keys[0] != keys[1] && keys[0].name != keys[1].name)
    }

    @Test func everyComponentChangesTheKey() throws {
        let keys = try [
            CacheKey(url: "http://h/"), CacheKey(method: .post, url: "http://h/"), CacheKey(url: "https://h/"),
            CacheKey(url: "http://h/", headers: ["A": "b"]), CacheKey(url: "http://h/", headers: ["A": "c"]),
            CacheKey(url: "http://h/", headers: ["AB": ""]), CacheKey(url: "http://h/", parameters: [:]),
            CacheKey(url: "http://h/", body: []), CacheKey(url: "http://h/", body: [1]),
            CacheKey(url: "http://h/", scope: "a"), CacheKey(url: "http://h/", scope: "b"),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(\.name)).count == keys.count)
    }

    // The published pair of blocks with the same MD5. Their file names are equal, their identities are not.
    @Test func requestsWithEqualMD5HaveDifferentKeys() throws {
        let (first, second) = try CollidingBlocks.pair
        #expect(try Digest.of(first, .md5) == Digest.of(second, .md5))
        let keys = try [first, second].map { try CacheKey(method: .post, url: "http://h/", body: $0) }
        #expect(keys[0] != keys[1])
    }

    @Test func agentKeyDescribesTheSentRequest() throws {
        var configuration = Agent.Configuration(baseURL: "http://h/v1", headers: ["X-Tenant": "a"])
        configuration.languages = ["de"]
        let agent = Agent(configuration, transport: StubTransport { _ in Response(status: 200) })
        let request = Request<Bytes>("x y?q", method: .post, headers: ["Date": "now"], body: .text("b"))
        let key = try agent.cacheKey(
            for: request, headers: ["Accept-Language", "x-tenant", "Content-Type"], scope: "me")
        #expect(
            key.explanation == """
                method      POST
                url         http://h/v1/x%20y?q
                field       accept-language: "de;q=1"
                field       content-type: "text/plain; charset=utf-8"
                field       x-tenant: "a"
                body        1 bytes "b"
                user        "me"

                """)
        configuration.baseURL = "http://other/v1"
        let otherAgent = Agent(configuration, transport: StubTransport { _ in Response(status: 200) })
        #expect(try otherAgent.cacheKey(for: request) != agent.cacheKey(for: request))
    }

    @Test func streamedBodyHasNoCacheKey() throws {
        let agent = Agent(transport: StubTransport { _ in Response(status: 200) })
        let request = Request<Bytes>("http://h/", method: .post, body: .file("/etc/hostname"))
        let error = try #require(throws: NetError.self) { try agent.cacheKey(for: request) }
        #expect(error.code == .unsupported)
    }

    @Test(
        arguments: [
            ("GET", "h", .badURL), ("GET", "http://h/a b", .badURL), ("G T", "http://h/", .badMethod),
        ] as [(Method, String, NetError.Code)])
    func invalidRequestHasNoCacheKey(method: Method, url: String, code: NetError.Code) throws {
        let error = try #require(throws: NetError.self) { try CacheKey(method: method, url: url) }
        #expect(error.code == code)
    }

    @Test func otherKeyErrorsAreReported() throws {
        let header = try #require(throws: NetError.self) { try CacheKey(url: "http://h/", headers: ["A": "b\nc"]) }
        #expect(header.code == .badHeader)
        let number = try #require(throws: NetError.self) {
            try CacheKey(url: "http://h/", parameters: ["n": .double(.nan)])
        }
        #expect(number.code == .badParameter && number.message.contains("'n'"))
    }
}
