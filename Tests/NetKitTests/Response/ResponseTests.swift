import NetKit
import Testing

struct ResponseTests {
    private struct Stop: Error, Equatable {}

    @Test func mappingChangesOnlyTheValue() async throws {
        let server = try LoopbackServer()
        server.script("/a", Reply(status: 201, headers: ["X: 1"], patternLength: 5))
        let response = try await Agent().send(Request<Bytes>(server.url("/a?q=1")))
        let mapped = response.map { $0.bytes.count }
        #expect(mapped.value == 5)
        #expect(mapped.status == 201)
        #expect(mapped.headers == response.headers)
        #expect(mapped.bytes == response.bytes)
        #expect(mapped.httpVersion == .http1_1)
        #expect(Array(mapped.metrics) == Array(response.metrics))
        #expect(mapped.source == .network)
        #expect(mapped.url == server.url("/a?q=1"))
    }

    @Test func errorThrownByAMappingClosurePropagates() {
        let response = Response(status: 200)
        #expect(throws: Stop()) { try response.map { _ throws(Stop) -> Int in throw Stop() } }
    }

    @Test func constructedResponseIsMarkedAsAStub() {
        var hop = HopMetrics()
        hop.url = "http://stub/x"
        let response = Response(status: 418, headers: ["A": "b"], bytes: [1], metrics: Metrics([HopMetrics(), hop]))
        #expect(response.source == .stub)
        #expect(response.value == [1])
        #expect(response.bytes == [1])
        #expect(response.httpVersion == .unknown)
        #expect(response.url == "http://stub/x")
        #expect(response.metrics.count == 2)
        #expect(Response(status: 200).url == "")
    }

    @Test(arguments: [("HTTP/1.0", HTTPVersion.http1_0), ("HTTP/1.1", .http1_1)])
    func versionComesFromTheStatusLine(text: String, version: HTTPVersion) async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("\(text) 200 OK\r\nContent-Length: 2\r\n\r\nhi"))
        let response = try await Agent().send(Request<String>(server.url("/")))
        #expect(response.httpVersion == version)
        #expect(response.httpVersion.description == text)
        #expect(response.value == "hi")
    }

    @Test func chunkedAndUnchunkedBodiesAreEqual() async throws {
        let server = try LoopbackServer()
        server.script("/chunks", Reply(patternLength: 70_000, chunkBytes: 777))
        server.script("/plain", Reply(patternLength: 70_000))
        server.script("/until-close", .raw("HTTP/1.1 200 OK\r\n\r\nto the end"))
        let agent = Agent()
        let chunks = try await agent.send(Request<Bytes>(server.url("/chunks")))
        let plain = try await agent.send(Request<Bytes>(server.url("/plain")))
        #expect(chunks.bytes == plain.bytes)
        #expect(chunks.bytes.count == 70_000)
        #expect(try await agent.send(Request<String>(server.url("/until-close"))).value == "to the end")
    }

    @Test(arguments: [204, 304] as [UInt16])
    func aStatusWithoutABodyHasNone(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: status))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        #expect(response.status == Int(status))
        #expect(response.bytes.isEmpty)
    }

    @Test func informationalResponseIsNotTheResponse() async throws {
        let server = try LoopbackServer()
        let hint = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
        server.script("/", .raw("\(hint)\(hint)HTTP/1.1 200 OK\r\nX: 1\r\nContent-Length: 0\r\n\r\n"))
        let response = try await Agent().send(Request<Bytes>(server.url("/")))
        #expect(response.status == 200)
        #expect(response.headers == ["X": "1", "Content-Length": "0"])
    }

    @Test func aResponseIsPrintedInOneLineWithoutSecrets() {
        var hop = HopMetrics()
        hop.url = "https://h/path?token=s3cret"
        let response = Response(
            status: 201, headers: ["Set-Cookie": "id=s3cret", "A": "b"], bytes: [1, 2], metrics: Metrics([hop]))
        let fields = #"["Set-Cookie": "[hidden]", "A": "b"]"#
        #expect("\(response)" == #"Response(status: 201, url: "https://h/path", headers: \#(fields), bytes: 2)"#)
        var dumped = ""
        dump(response.map { _ in "seen" }, to: &dumped)
        #expect(dumped.contains("seen") && dumped.contains("https://h/path") && !dumped.contains("s3cret"))
    }
}
