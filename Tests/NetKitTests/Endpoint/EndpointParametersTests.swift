import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Parameters of endpoints in every form that a programmer may write.
struct EndpointParametersTests {
    private func query(_ endpoint: some Endpoint) async throws -> String {
        let (server, agent) = (try LoopbackServer(), Agent())
        server.script("/p", .json("1"))
        var request = try await endpoint.request()
        request.url = server.url("/p")
        _ = try await agent.send(request)
        await agent.shutdown()
        let target = server.received(0).requestLine.split(separator: " ")[1]
        return String(target.dropFirst("/p?".count))
    }

    private struct Filter: Encodable, Sendable {
        var text = "x"
        var page = 2
    }

    private struct Variables: Endpoint {
        typealias Value = Int
        let path = "p"
        let q: String
        let near: Int?
        var parameters: Parameters? { ["q": q, "near": near, "tags": ["a"], "lit": true] }
    }

    private struct Structure: Endpoint {
        typealias Value = Int
        let path = "p"
        let filter = Filter()
        var parameters: Parameters? { filter }
    }

    private struct TextDictionary: Endpoint {
        typealias Value = Int
        let path = "p"
        let parameters = ["b": "2", "a": "1"]
    }

    private struct MixedDictionary: Endpoint {
        typealias Value = Int
        let path = "p"
        let values: [String: any Encodable & Sendable] = ["b": 2, "a": "1"]
        var parameters: Parameters? { values }
    }

    private struct Explicit: Endpoint {
        typealias Value = Int
        let path = "p"
        let q: String
        var parameters: Parameters? { ["q": .init(q), "in": ["a": 1, "b": "c"]] }
    }

    private struct Returning: Endpoint {
        typealias Value = Int
        let path = "p"
        let q: String
        var parameters: Parameters? {
            var all: Parameters = ["q": .init(q)]
            all["n"] = 1
            return all
        }
    }

    private struct Branching: Endpoint {
        typealias Value = Int
        let path = "p"
        let q: String?
        var parameters: Parameters {
            get async throws {
                if let q {
                    ["q": q]
                } else {
                    ["all": true]
                }
            }
        }
    }

    private struct Listed: Endpoint {
        typealias Value = Int
        let path = "p"
        let parameters: ParameterList = ["b": 2, "a": "1"]
    }

    @Test func everyFormIsSent() async throws {
        #expect(try await query(Variables(q: "x y", near: nil)) == "lit=1&near&q=x%20y&tags%5B%5D=a")
        #expect(try await query(Structure()) == "page=2&text=x")
        #expect(try await query(TextDictionary()) == "a=1&b=2")
        #expect(try await query(MixedDictionary()) == "a=1&b=2")
        #expect(try await query(Explicit(q: "x")) == "in%5Ba%5D=1&in%5Bb%5D=c&q=x")
        #expect(try await query(Returning(q: "x")) == "n=1&q=x")
        #expect(try await query(Branching(q: "x")) == "q=x")
        #expect(try await query(Branching(q: nil)) == "all=1")
        #expect(try await query(Listed()) == "a=1&b=2")
    }

    @Test func pathMayBeAURL() async throws {
        struct Absolute: Endpoint {
            typealias Value = Int
            let path: URL
        }
        let url = try #require(URL(string: "http://h/p?a=1"))
        #expect(try await Absolute(path: url).request().url == "http://h/p?a=1")
    }

    @Test func decodingOfTheEndpointIsUsed() async throws {
        struct Counted: Endpoint {
            typealias Value = Int
            let path = "p"
            let decoding = Decoding<Int> { $0.bytes.count }
        }
        let stub = StubTransport { _ in .text("four") }
        #expect(try await Agent(.init(baseURL: "http://h"), transport: stub).send(Counted()).value == 4)
    }
}
