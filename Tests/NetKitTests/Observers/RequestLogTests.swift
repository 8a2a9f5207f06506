import NetKit
import NetKitTesting
import Testing

struct RequestLogTests {
    private let stub = StubTransport()
    private let lines = Collected<String>()

    private func agent(_ change: (inout RequestLog) -> Void = { _ in }) -> Agent {
        let lines = lines
        var log = RequestLog { lines.append($0) }
        change(&log)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.userAgent = nil
        configuration.observers = [log]
        return Agent(configuration, transport: stub)
    }

    /// The lines without the call's number and times, which vary.
    private var texts: [String] {
        lines.values.map { line in
            line.drop { $0 != " " }.dropFirst().split(separator: " ").map { Int($0) == nil ? $0 : "N" }.joined(
                separator: " ")
        }
    }

    @Test func callIsLoggedInLines() async throws {
        stub.register("/a", with: .json(#"{"x": 1}"#))
        let body = try Body.json(["q": "v"])
        _ = try await agent().send(Request<Bytes>("/a?b=c", method: .post, headers: ["X-A": "y"], body: body))
        #expect(
            texts
                == [
                    "> POST http://stub/a?b=c", "> X-A: y", #"> {"q":"v"}"#, "< N after N ms",
                    "< Content-Type: application/json", #"< {"x": N}"#, "ended after N ms",
                ].map { $0.replacing(#"{"x": N}"#, with: #"{"x": 1}"#) })
    }

    @Test func linesContainNoSecret() async throws {
        stub.register(
            "/a",
            with: StubReply(
                headers: ["Set-Cookie": canary, "Content-Type": "application/json"],
                body: [.text(#"{"access_token": "\#(canary)"}"#)]))
        var request = Request<Bytes>("http://\(canary):\(canary)@stub/a?token=\(canary)", method: .post)
        request.headers = ["Authorization": canary]
        request.credentials = .bearer(canary)
        request.body = .text("password=\(canary)", contentType: "application/x-www-form-urlencoded")
        _ = try await agent { $0.showsCurl = true }.send(request)
        request.body = .text(canary, contentType: "text/plain")
        _ = try await agent { $0.showsCurl = true }.send(request)
        #expect(lines.values.count { $0.contains("curl ") } == 2)
        #expect(lines.values.allSatisfy { !$0.contains(canary) })
    }

    @Test func serverTextCannotForgeLines() async throws {
        stub.register("/a", with: StubReply(headers: ["X-A": "1\n#9 < 200\r\u{1B}[31m\u{2028}x"]))
        _ = try await agent().send(Request<Bytes>("/a"))
        #expect(lines.values.allSatisfy { line in !line.unicodeScalars.contains { $0.value < 32 || $0 == "\u{2028}" } })
    }

    @Test func failureIsLoggedWithItsReason() async throws {
        stub.register("/a", with: .failure(.reset))
        _ = await ending(of: Request<Bytes>("/a"), from: agent())
        #expect(texts.last == "failed after N ms: reset: a stub's failure")
    }

    @Test func levelDecidesWhichPartsAreLogged() async throws {
        stub.register("/a", with: .json("[1]"))
        let request = Request<Bytes>("/a", method: .put, headers: ["X-A": "y"], body: .text("x"))
        _ = try await agent { $0.level = .basic }.send(request)
        #expect(texts == ["> PUT http://stub/a", "< N after N ms", "ended after N ms"])
        _ = try await agent { $0.level = .headers }.send(request)
        #expect(
            texts.dropFirst(3) == [
                "> PUT http://stub/a", "> X-A: y", "< N after N ms", "< Content-Type: application/json",
                "ended after N ms",
            ])
    }

    @Test func largeAndStreamedBodiesAreNotLogged() async throws {
        stub.register("/a", with: .json("[\(String(repeating: "1,", count: 2000))1]"))
        let body = Body.stream { Pieces([Bytes(Array(canary.utf8))]) }
        _ = try await agent().send(Request<Bytes>("/a", method: .put, body: body))
        #expect(
            texts == [
                "> PUT http://stub/a", "> a body that is not in memory (multipart, file or stream)", "< N after N ms",
                "< Content-Type: application/json", "< N bytes",
                "ended after N ms",
            ])
    }
}
