import NetKit
import NetKitTesting
import Testing

struct BaseURLTests {
    private struct Row: Decodable, Sendable {
        var base: String
        var path: String
        var keeps_base_path: String?
        var url: String?
    }

    @Test(arguments: ["url_join.json", "url_join_own.json"])
    func pathResolvesAgainstItsBaseAsInTheVectors(file: String) async throws {
        let rows = try vectors(file, of: Row.self)
        #expect(rows.count >= 8)
        for row in rows {
            var configuration = Agent.Configuration(baseURL: row.base)
            configuration.keepsBasePath = row.keeps_base_path != nil
            let stub = StubTransport { _ in Response(status: 200) }
            let agent = Agent(configuration, transport: stub)
            let ended = await ending(of: Request<Bytes>(row.path), from: agent)
            if let url = row.url {
                #expect(try configuration.url(for: row.path) == url, "\(row)")
                // URLs with another scheme than http and https are not sent.
                #expect(stub.requests.map(\.url) == (url.lowercased().hasPrefix("http") ? [url] : []), "\(row)")
            } else {
                #expect(ended == .failed(.badURL), "\(row)")
                #expect(stub.requests.isEmpty)
            }
        }
    }

    @Test func configurationResolvesPaths() throws {
        let configuration = Agent.Configuration(baseURL: "http://h/v1")
        #expect(try configuration.url(for: "a b/ü") == "http://h/v1/a%20b/%C3%BC")
        #expect(try Agent.Configuration().url(for: "a b") == "a b")
    }

    @Test func urlIsUnchangedWithoutABase() async throws {
        let stub = StubTransport { _ in Response(status: 200) }
        _ = try await Agent(transport: stub).send(Request<Bytes>("http://h/a/../b"))
        #expect(stub.requests.map(\.url) == ["http://h/a/../b"])
    }

    @Test func resolvedURLReachesTheServer() async throws {
        let server = try LoopbackServer()
        server.script("/v1/cities", .json("[1]"))
        let agent = Agent(.init(baseURL: server.url("/v1")))
        #expect(try await agent.send(Request<[Int]>("cities?count=10")).value == [1])
        #expect(server.received().requestLine == "GET /v1/cities?count=10 HTTP/1.1")
    }

    @Test(arguments: [("nothing here", "x"), ("", "x"), ("http://h", "//a b/"), ("http://h", "a\n")])
    func invalidURLIsRefused(base: String, reference: String) async {
        let stub = StubTransport { _ in Response(status: 200) }
        let agent = Agent(.init(baseURL: base), transport: stub)
        #expect(await ending(of: Request<Bytes>(reference), from: agent) == .failed(.badURL))
        #expect(stub.requests.isEmpty)
    }
}
