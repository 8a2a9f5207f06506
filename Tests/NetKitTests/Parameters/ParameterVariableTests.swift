import FoundationEssentials
import NetKit
import Testing

/// Parameters of variables, dictionaries and structures, with the bytes that a server receives.
struct ParameterVariableTests {
    private enum Order: String, Encodable { case byName = "by-name" }

    private struct Filter: Encodable, Sendable {
        var text = "a b"
        var maxPrice: Int? = 5
        var since = Date(timeIntervalSince1970: 1_700_000_000)
    }

    private let q = "x y"
    private let page = 2
    private let near: Int? = nil
    private let tags = ["a", "b"]
    private let since = Date(timeIntervalSince1970: 1_700_000_000)

    private struct Case: Sendable, CustomStringConvertible {
        let name: String
        let request: @Sendable (String, Method) -> Request<String>
        let query: String
        let json: String

        var description: String { name }
    }

    private static let cases: [Case] = {
        let test = ParameterVariableTests()
        let (q, page, near, tags, since) = (test.q, test.page, test.near, test.tags, test.since)
        let texts = ["b": "2", "a": "1"]
        let mixed: [String: any Encodable & Sendable] = ["q": q, "page": page]
        let filter = Filter()
        let (order, ids) = (Order.byName, Set([10, 9, 1]))
        let tree: Parameters = ["z": 1, "a": "b"]
        let optionalTree: Parameters? = tree
        return [
            Case(
                name: "variables", request: { Request($0, method: $1, parameters: ["q": q, "page": page]) },
                query: "page=2&q=x%20y", json: #"{"q":"x y","page":2}"#),
            Case(
                name: "an optional that is nil", request: { Request($0, method: $1, parameters: ["near": near]) },
                query: "near", json: #"{"near":null}"#),
            Case(
                name: "an array", request: { Request($0, method: $1, parameters: ["tags": tags]) },
                query: "tags%5B%5D=a&tags%5B%5D=b", json: #"{"tags":["a","b"]}"#),
            Case(
                name: "a date", request: { Request($0, method: $1, parameters: ["since": since]) },
                query: "since=2023-11-14T22%3A13%3A20Z", json: #"{"since":"2023-11-14T22:13:20Z"}"#),
            Case(
                name: "a dictionary of strings", request: { Request($0, method: $1, parameters: texts) },
                query: "a=1&b=2", json: #"{"a":"1","b":"2"}"#),
            Case(
                name: "a dictionary of several types", request: { Request($0, method: $1, parameters: mixed) },
                query: "page=2&q=x%20y", json: #"{"page":2,"q":"x y"}"#),
            Case(
                name: "a structure", request: { Request($0, method: $1, parameters: filter) },
                query: "maxPrice=5&since=2023-11-14T22%3A13%3A20Z&text=a%20b",
                json: #"{"text":"a b","maxPrice":5,"since":"2023-11-14T22:13:20Z"}"#),
            Case(
                name: "a nested literal of one type",
                request: { Request($0, method: $1, parameters: ["near": ["lon": 10.5, "lat": 59.5]]) },
                query: "near%5Blat%5D=59.5&near%5Blon%5D=10.5", json: #"{"near":{"lat":59.5,"lon":10.5}}"#),
            Case(
                name: "a nested literal of several types",
                request: {
                    Request($0, method: $1, parameters: ["near": ["lat": 59.5, "name": "x"], "list": [1, "a"]])
                },
                query: "list%5B%5D=1&list%5B%5D=a&near%5Blat%5D=59.5&near%5Bname%5D=x",
                json: #"{"near":{"lat":59.5,"name":"x"},"list":[1,"a"]}"#),
            Case(
                name: "literals beside variables",
                request: { Request($0, method: $1, parameters: ["q": q, "b": true, "n": nil, "in": ["x": 1]]) },
                query: "b=1&in%5Bx%5D=1&n&q=x%20y", json: #"{"q":"x y","b":true,"n":null,"in":{"x":1}}"#),
            Case(
                name: "a mixed literal beside variables",
                request: { Request($0, method: $1, parameters: ["q": q, "in": ["z": 1, "a": "b"] as Parameters]) },
                query: "in%5Ba%5D=b&in%5Bz%5D=1&q=x%20y", json: #"{"q":"x y","in":{"z":1,"a":"b"}}"#),
            Case(
                name: "an array of dictionaries",
                request: { Request($0, method: $1, parameters: ["list": [["x": page], ["x": 1]]]) },
                query: "list%5B%5D%5Bx%5D=2&list%5B%5D%5Bx%5D=1", json: #"{"list":[{"x":2},{"x":1}]}"#),
            Case(
                name: "a set", request: { Request($0, method: $1, parameters: ["ids": ids]) },
                query: "ids=1&ids=10&ids=9", json: #"{"ids":[1,9,10]}"#),
            Case(
                name: "an enumeration with raw values",
                request: { Request($0, method: $1, parameters: ["order": order]) },
                query: "order=by-name", json: #"{"order":"by-name"}"#),
            Case(
                name: "an explicit value", request: { Request($0, method: $1, parameters: ["near": .init(near)]) },
                query: "near", json: #"{"near":null}"#),
            Case(
                name: "a tree", request: { Request($0, method: $1, parameters: tree) },
                query: "a=b&z=1", json: #"{"z":1,"a":"b"}"#),
            Case(
                name: "an optional tree", request: { Request($0, method: $1, parameters: optionalTree) },
                query: "a=b&z=1", json: #"{"z":1,"a":"b"}"#),
        ]
    }()

    @Test(arguments: cases.indices) func everySpellingSendsItsBytes(index: Int) async throws {
        let (test, server, agent) = (Self.cases[index], try LoopbackServer(), Agent())
        server.script("/c", .text("ok"))
        for method in [Method.get, .post] {
            _ = try await agent.send(test.request(server.url("/c"), method))
        }
        var json = test.request(server.url("/c"), .post)
        json.parameterPlacement = .json
        json.limits.total = .seconds(60)
        _ = try await agent.send(json)
        #expect(server.received(0).requestLine == "GET /c?\(test.query) HTTP/1.1", "\(test.name)")
        #expect(String(decoding: server.received(1).body, as: UTF8.self) == test.query, "\(test.name)")
        let body = String(decoding: server.received(2).body, as: UTF8.self)
        #expect(body == test.json.replacing("/", with: #"\/"#), "\(test.name)")
        await agent.shutdown()
    }

    @Test func bodiesAcceptTheSameValues() throws {
        let mixed: [String: any Encodable & Sendable] = ["q": q, "page": page]
        #expect(try Body.json(["q": q, "page": page]).bytes.text == #"{"q":"x y","page":2}"#)
        #expect(try Body.json(mixed).bytes.text == #"{"page":2,"q":"x y"}"#)
        #expect(try Body.json(["z": 1, "a": 2]).bytes.text == #"{"z":1,"a":2}"#)
        #expect(try Body.json([q, q]).bytes.text == #"["x y","x y"]"#)
        #expect(try Body.form(["q": q, "page": page]).bytes.text == "page=2&q=x%20y")
        #expect(try Body.form(["a": "1"]).bytes.text == "a=1")
        #expect(try Body.form(mixed).bytes.text == "page=2&q=x%20y")
        #expect(try Body.form(Filter(maxPrice: nil)).bytes.text == "since=2023-11-14T22%3A13%3A20Z&text=a%20b")
    }

    @Test func propertiesAcceptLiteralsWithVariables() {
        var request = Request<String>("a")
        request.parameters = ["q": q, "page": page]
        #expect(request.parameters == ["q": "x y", "page": 2])
        request.parameters?["page"] = .init(3)
        #expect(request.parameters?["page"] == 3)
        request.parameters = nil
        #expect(request.parameters == nil)
        request.parameters = ["near": .init(near)]
        #expect(request.parameters?.fields.count == 1)
        var agent = Agent.Configuration()
        agent.parameters = ["key": q]
        var service = Service.Configuration()
        service.parameters = ["key": q, "n": page]
        #expect(agent.parameters == ["key": "x y"] && service.parameters == ["key": "x y", "n": 2])
    }

    @Test func literalOfSixteenEntriesIsSent() throws {
        let request = Request<String>(
            "c",
            parameters: [
                "a": q, "b": page, "c": near, "d": tags, "e": since, "f": Order.byName, "g": 1, "h": "x", "i": 2.5,
                "j": true, "k": nil, "l": ["x": 1], "m": [1, 2], "n": q, "o": page, "p": "z",
            ])
        #expect(request.parameters?.fields.map(\.name).joined() == "abcdefghijklmnop")
    }

    private struct Locked: Encodable {
        struct Failure: Error {}
        func encode(to encoder: any Encoder) throws { throw Failure() }
    }

    @Test func valueThatCannotBeEncodedFailsTheRequestWithItsPath() async throws {
        let agent = Agent()
        let requests = [
            Request<String>("http://127.0.0.1:1/", parameters: ["a": ["b": Locked()]]),
            Request<String>("http://127.0.0.1:1/", method: .post, parameters: ["a": ["b": Locked()]]),
        ]
        for request in requests {
            let error = await #expect(throws: NetError.self) { try await agent.send(request) }
            #expect(error?.code == .encoding)
            #expect(error?.message.contains("'a'") == true)
        }
        let far = Date(timeIntervalSince1970: 1e15)
        let request = Request<String>("http://127.0.0.1:1/", parameters: ["when": far])
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .encoding && error?.message.contains("'when'") == true)
        #expect(throws: NetError.self) { try Body.json(["a": Locked(), "b": 1]) }
        await agent.shutdown()
    }
}
