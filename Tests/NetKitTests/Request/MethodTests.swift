import NetKit
import Testing

struct MethodTests {
    @Test func methodTokensAreCaseSensitive() {
        #expect(Method.get == "GET")
        #expect(Method.get != "get")
        #expect(Method(rawValue: "PURGE") == "PURGE")
        #expect("\(Method.patch)" == "PATCH")
    }

    @Test(arguments: [
        (Method.get, "GET"), (.head, "HEAD"), (.post, "POST"), (.put, "PUT"), (.patch, "PATCH"), (.delete, "DELETE"),
        (.options, "OPTIONS"), ("PROPFIND", "PROPFIND"), ("get", "get"), ("x!#$%&'*+-.^_`|~9", "x!#$%&'*+-.^_`|~9"),
    ])
    func theServerReceivesTheTokenAsSpelled(method: Method, token: String) async throws {
        let server = try LoopbackServer()
        server.script("/m", Reply.text("ok"))
        let response = try await Agent().send(Request<Bytes>(server.url("/m"), method: method))
        #expect(server.received().requestLine == "\(token) /m HTTP/1.1")
        #expect(response.status == 200)
        #expect(response.bytes == (method == .head ? [] : Bytes(Array("ok".utf8))))
    }

    @Test(arguments: [
        (Method.post, "POST"), (.put, "PUT"), (.patch, "PATCH"), (.delete, "DELETE"), (.get, "GET"),
        (.options, "OPTIONS"), ("QUERY", "QUERY"),
    ])
    func everyMethodCarriesABody(method: Method, token: String) async throws {
        let server = try LoopbackServer()
        server.script("/m", .echo)
        let body = Body([0, 255, 13, 10], contentType: "application/octet-stream")
        let response = try await Agent().send(Request<Bytes>(server.url("/m"), method: method, body: body))
        #expect(server.received().requestLine.hasPrefix("\(token) "))
        #expect(server.received().body == [0, 255, 13, 10])
        #expect(server.received().values(named: "Content-Length") == ["4"])
        #expect(response.bytes == [0, 255, 13, 10])
    }
}
