#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKitTesting
import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct HARRecorderTests {
    /// The required members of HAR 1.2. Decoding fails if one is missing.
    struct Archive: Decodable {
        struct Log: Decodable {
            let version: String
            let creator: Creator
            let entries: [Entry]
        }
        struct Creator: Decodable {
            let name: String
            let version: String
        }
        struct Entry: Decodable {
            let startedDateTime: String
            let time: Double
            let request: Request
            let response: Response
            let cache: [String: String]
            let timings: Timings
            let serverIPAddress: String?
            let connection: String?
            let comment: String?
        }
        struct Pair: Decodable, Equatable {
            let name: String
            let value: String
        }
        struct Request: Decodable {
            let method: String
            let url: String
            let httpVersion: String
            let cookies: [Pair]
            let headers: [Pair]
            let queryString: [Pair]
            let postData: PostData?
            let headersSize: Int
            let bodySize: Int
        }
        struct PostData: Decodable {
            let mimeType: String
            let text: String
        }
        struct Response: Decodable {
            let status: Int
            let statusText: String
            let httpVersion: String
            let cookies: [Pair]
            let headers: [Pair]
            let content: Content
            let redirectURL: String
            let headersSize: Int
            let bodySize: Int
        }
        struct Content: Decodable {
            let size: Int
            let mimeType: String
            let text: String?
        }
        struct Timings: Decodable {
            let blocked: Double
            let dns: Double
            let connect: Double
            let send: Double
            let wait: Double
            let receive: Double
            let ssl: Double
        }
        let log: Log
    }

    private func entries(of recorder: HARRecorder) throws -> [Archive.Entry] {
        let archive = try JSONDecoder().decode(Archive.self, from: recorder.archive().data)
        #expect(archive.log.version == "1.2")
        #expect(archive.log.creator.name == "NetKit")
        return archive.log.entries
    }

    private func agent(_ recorder: HARRecorder, _ transport: (any Transport)? = nil) -> Agent {
        var configuration = Agent.Configuration()
        configuration.userAgent = nil
        configuration.observers = [recorder]
        return transport.map { Agent(configuration, transport: $0) } ?? Agent(configuration)
    }

    @Test func exchangeIsRecordedWithTimesAndSizes() async throws {
        let server = try LoopbackServer()
        server.script("/", .text("hello"))
        let recorder = HARRecorder(time: StubTime().source)
        let agent = agent(recorder)
        _ = try await agent.send(Request<Bytes>(server.url("/?q=a%20b&token=\(canary)"), headers: ["X-A": "1"]))
        _ = try await agent.send(Request<Bytes>(server.url("/"), method: .post, body: .text("12345")))
        let entries = try entries(of: recorder)
        try #require(entries.count == 2)
        let first = entries[0]
        #expect(first.startedDateTime == "1994-11-06T08:49:37.000Z")
        #expect(first.request.method == "GET")
        #expect(first.request.url == server.url("/?q=a%20b&token=[hidden]"))
        #expect(first.request.queryString == [.init(name: "q", value: "a b"), .init(name: "token", value: "[hidden]")])
        #expect(first.request.headers == [.init(name: "X-A", value: "1")])
        #expect(first.request.httpVersion == "HTTP/1.1")
        #expect(first.response.status == 200 && first.response.bodySize == 5 && first.response.content.size == 5)
        #expect(first.response.headersSize > 0 && first.response.redirectURL == "")
        #expect(first.serverIPAddress == "127.0.0.1" && first.connection == "1")
        let times = first.timings
        #expect(times.connect >= 0 && times.ssl == -1 && times.blocked >= 0)
        let sum = [times.blocked, times.dns, times.connect, times.send, times.wait, times.receive].map { max(0, $0) }
        #expect(abs(first.time - sum.reduce(0, +)) < 1e-6)
        #expect(entries[1].timings.connect == -1 && entries[1].connection == "1")
        #expect(entries[1].request.bodySize == 5 && entries[1].request.postData == nil)
    }

    @Test(arguments: [
        ("?a=1&b", ["a=1", "b="]), ("?a==1&&c=?x#d=2&e", ["a==1", "c=?x"]), ("?", []), ("#?a=1", []),
        // Delimiters followed by a combining accent, and malformed escapes.
        ("?a=1&\u{301}b=\u{301}2", ["a=1", "\u{301}b=\u{301}2"]), ("?%+1=%zz%4&%41=%e2%82%ac", ["% 1=%zz%4", "A=€"]),
    ])
    func queryIsParsedLikeServersDo(query: String, pairs: [String]) {
        let seen = "http://host/\(query)".queryPairs.map { Array("\($0.name)=\($0.value)".unicodeScalars) }
        #expect(seen == pairs.map { Array($0.unicodeScalars) })
    }

    @Test func eachHopAndAttemptIsAnEntry() async throws {
        let stub = StubTransport()
        stub.register("/a", with: .redirect(to: "/b", status: 303))
        stub.register("/b", with: .status(503), .text("x"))
        let recorder = HARRecorder()
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.observers = [recorder]
        var retry = Retry(time: StubTime().source)
        retry.methods = [.post]
        configuration.interceptors = [retry]
        _ = try await Agent(configuration, transport: stub).send(Request<String>("/a", method: .post, body: .text("x")))
        let entries = try entries(of: recorder)
        #expect(entries.map(\.request.method) == ["POST", "GET", "POST", "GET"])
        #expect(entries.map(\.request.url) == ["/a", "/b", "/a", "/b"].map { "http://stub\($0)" })
        #expect(entries.map(\.response.status) == [303, 503, 303, 200])
        #expect(entries.map(\.response.redirectURL) == ["http://stub/b", "", "http://stub/b", ""])
        #expect(entries.map(\.request.bodySize) == [1, 0, 1, 0])
        #expect(recorder.count == 2)
    }

    @Test func streamIsRecordedWhenItEnds() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000))
        let recorder = HARRecorder()
        let stream = try await agent(recorder).stream(Request<Bytes>(server.url("/")))
        #expect(try await stream.checked().count == 100_000)
        let entry = try #require(try entries(of: recorder).first)
        #expect(entry.response.content.size == 100_000)
        #expect(entry.timings.receive > 0)
    }

    @Test func failedEntryContainsTheReason() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let recorder = HARRecorder()
        _ = await ending(of: Request<Bytes>("http://127.0.0.1:\(port.number)/"), from: agent(recorder))
        let entry = try #require(try entries(of: recorder).first)
        #expect(entry.response.status == 0)
        #expect(entry.comment?.hasPrefix("refused: ") == true)
    }

    @Test func archiveContainsNoSecretUnlessRequested() async throws {
        let stub = StubTransport { _ in
            StubReply(
                headers: ["Set-Cookie": canary, "Content-Type": "application/json"],
                body: [.text(#"{"refresh_token": "\#(canary)", "a": 1}"#)])
        }
        for (recorder, isShown) in [
            (HARRecorder(maxBodyBytes: 1000), false), (HARRecorder(hiding: nil, maxBodyBytes: 1000), true),
        ] {
            var request = Request<Bytes>("http://\(canary):\(canary)@a/?token=\(canary)#key=\(canary)", method: .post)
            request.headers = ["Authorization": canary]
            request.body = .text("password=\(canary)&b=2", contentType: "application/x-www-form-urlencoded")
            request.credentials = .bearer(canary)
            _ = try await agent(recorder, stub).send(request)
            #expect(try recorder.archive().text.contains(canary) == isShown)
            let entry = try #require(try entries(of: recorder).first)
            #expect(entry.request.postData?.text == "password=\(isShown ? canary : "[hidden]")&b=2")
            #expect(entry.response.content.text?.contains(#""a": 1"#) == true)
        }
    }

    @Test func bodiesAreOmittedUnlessRequested() async throws {
        let recorder = HARRecorder()
        let stub = StubTransport { _ in .json(#"{"a": 1}"#) }
        let request = Request<Bytes>("http://a/", method: .post, body: try .json(["b": 2]))
        _ = try await agent(recorder, stub).send(request)
        let entry = try #require(try entries(of: recorder).first)
        #expect(entry.request.postData == nil && entry.response.content.text == nil)
        #expect(entry.request.bodySize == 7)
    }

    @Test func unrecordedExchangeIsNotRetained() async throws {
        let recorder = HARRecorder(maxBodyBytes: 4)
        func send() async throws -> WeakToken {
            let mark = DeallocationToken()
            let stub = StubTransport { _ in .text("longer") }
            var request = Request<Bytes>("http://a/", method: .post)
            request.body = .pull { () -> Body.Reader in
                mark.ignore(())
                return { _ in 0 }
            }
            request.progress = mark.ignore
            _ = try await agent(recorder, stub).send(request)
            return WeakToken(mark)
        }
        try await send().waitUntilDeallocated()
        let entry = try #require(try entries(of: recorder).first)
        #expect(entry.request.bodySize == -1 && entry.response.content.text == nil)
    }

    @Test(arguments: [3, 4])
    func retainedBodyIsNotLongerThanTheRecordedOne(count: Int) {
        let bytes = Bytes(Array("body".utf8))
        let answer = Response(status: 200, headers: ["A": "1"], bytes: bytes)
        let expectedBytes: Bytes = count < 4 ? [] : bytes
        for outcome in [Event.Outcome.answered(answer), .failed(NetError(.reset, "gone", response: answer))] {
            let recorded = HARRecord.Outcome(outcome, maxBodyBytes: count)
            #expect(recorded.response?.bytes == expectedBytes && recorded.response?.headers["a"] == "1")
        }
        let request = HARRecord.Request(Request("http://a/", method: .post, body: Body(bytes)), maxBodyBytes: count)
        #expect(request.bytes == expectedBytes && request.bodySize == 4)
    }

    @Test func oldestExchangesAreEvicted() async throws {
        let recorder = HARRecorder(maxExchanges: 3)
        let agent = agent(recorder, StubTransport { _ in .text("x") })
        for index in 0..<10 {
            _ = try await agent.send(Request<Bytes>("http://a/\(index)"))
        }
        #expect(try entries(of: recorder).map(\.request.url) == ["http://a/7", "http://a/8", "http://a/9"])
    }

    @Test func archiveContainsExchangesInFlight() async throws {
        let gate = StubGate()
        let recorder = HARRecorder()
        let agent = agent(recorder, StubTransport { _ in StubReply.text("x").held(by: gate) })
        let task = Task { await ending(of: Request<Bytes>("http://a/"), from: agent) }
        try await gate.waitForArrivals(1)
        #expect(try entries(of: recorder).map(\.response.status) == [0])
        gate.open()
        #expect(await task.value == .answered)
        #expect(try entries(of: recorder).map(\.response.status) == [200])
    }

    /// The call's owner is cancelled, and a duplicate waits for the result.
    @Test func sharedTransferIsRecordedToItsEnd() async throws {
        let recorder = HARRecorder(maxExchanges: 1)
        try await DuplicateCall { $0.observers = [recorder] }.run(Request("http://a/")) { #expect(recorder.count == 1) }
        #expect(try entries(of: recorder).map(\.response.status) == [200])
    }
}
