import NetKit
import Testing

struct NetworkFailureTests {
    @Test func unknownHostNameFailsToResolve() async throws {
        let request = Request<Bytes>("http://canary:canary@nohost.invalid/canary?canary")
        let error = try await expectFailure(.resolve, native: 6, of: request)
        #expect(error.isRetryable)
        #expect(error.message.contains("nohost.invalid"))
        #expect(error.response == nil)
    }

    @Test func closedPortRefusesTheConnection() async throws {
        let port = try ReservedPort(acceptsConnections: false)
        let request = Request<Bytes>("http://canary:canary@127.0.0.1:\(port.number)/?canary")
        let error = try await expectFailure(.refused, native: 7, of: request)
        #expect(error.isRetryable)
        #expect(error.message.contains("127.0.0.1"))
    }

    // CURLE_RECV_ERROR, CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING.
    @Test(arguments: [
        (Reply(patternLength: 500, cutAfter: 100, ending: .reset), NetError.Code.reset, 56),
        (Reply(patternLength: 500, cutAfter: 0, ending: .reset), .reset, 56),
        (Reply(patternLength: 500, cutAfter: 100, ending: .close), .cutShort, 18),
        (Reply(patternLength: 500, chunkBytes: 50, cutAfter: 200, ending: .close), .cutShort, 18),
        (Reply(patternLength: 500, cutAfter: 0, ending: .close), .emptyReply, 52),
    ])
    func brokenConnectionIsReportedByItsCause(reply: Reply, code: NetError.Code, native: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", reply)
        let error = try await expectFailure(code, native: native, of: .withSecrets("/", on: server))
        #expect(error.isRetryable)
        #expect(error.response?.url.contains("@") != true)
    }

    /// Foundation on Linux reports -1 for all of these.
    @Test func everyFailureHasADistinctCode() async throws {
        let deaf = try ReservedPort(acceptsConnections: false)
        let silent = try ReservedPort(acceptsConnections: true)
        let server = try LoopbackServer()
        server.script("/stalled", .stalled)
        server.script("/idle", Reply(patternLength: 500, cutAfter: 200, ending: .stall))
        server.script("/reset", Reply(patternLength: 500, cutAfter: 100, ending: .reset))
        server.script("/short", Reply(patternLength: 500, cutAfter: 100, ending: .close))
        server.script("/nothing", Reply(patternLength: 500, cutAfter: 0, ending: .close))
        server.script("/garbage", .raw("garbage\r\n\r\n"))
        server.script("/coding", Reply(headers: ["Content-Encoding: gzip"], body: Array("no gzip".utf8)))
        server.script("/loop", .redirect(to: "/loop"))
        let identities: [LoopbackServer.Identity] = [.expired, .notYetValid, .wrongName, .untrusted, .garbage]
        let secure = try identities.map { try LoopbackServer($0) }
        func quick(_ path: String, _ limit: WritableKeyPath<Limits, Duration?>) -> Request<Bytes> {
            var request = Request<Bytes>(path.hasPrefix("/") ? server.url(path) : path)
            request.limits = Limits()
            request.limits[keyPath: limit] = .milliseconds(30)
            return request
        }
        var requests = ["reset", "short", "nothing", "garbage", "coding", "loop"].map {
            Request<Bytes>(server.url("/\($0)"))
        }
        requests += ["http://nohost.invalid/", "http://127.0.0.1:\(deaf.number)/"].map { Request<Bytes>($0) }
        requests += [
            quick("/stalled", \.firstByte), quick("/stalled", \.total), quick("/idle", \.idle),
            quick("https://127.0.0.1:\(silent.number)/", \.connect),
        ]
        requests += secure.map { server in
            var request = Request<Bytes>(server.url("/"))
            request.trust = TrustPolicy(authorityOf: server)
            return request
        }
        let agent = Agent()
        var endings: [Ending] = []
        for request in requests {
            endings.append(await ending(of: request, from: agent))
        }
        let codes: [NetError.Code] = [
            .reset, .cutShort, .emptyReply, .badResponse, .badCoding, .tooManyRedirects, .resolve, .refused,
            .firstByteTimeout, .timeout, .idleTimeout, .connectTimeout, .tlsExpired, .tlsNotYetValid,
            .tlsName, .tlsUntrusted, .tlsHandshake,
        ]
        #expect(endings == codes.map { .failed($0) })
        #expect(Set(codes).count == codes.count)
    }

    @Test(arguments: [
        "canary is no HTTP\r\n\r\n", "HTTP/1.1 2x0 canary\r\n\r\n", "HTTP/9.1 200 canary\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncanary\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: canary\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\ncanary",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzcanary\r\n",
    ])
    func nonHTTPBytesAreABadResponse(text: String) async throws {
        let server = try LoopbackServer()
        server.script("/", .raw(text))
        let thrown = await #expect(throws: NetError.self) {
            try await Agent().send(Request<Bytes>.withSecrets("/", on: server))
        }
        let error = try #require(thrown)
        #expect(error.code == .badResponse)
        #expect(!error.isRetryable)
        #expect(!error.description.contains(canary))
        #expect(!error.description.contains { $0.isNewline })
    }

    @Test func corruptContentCodingIsReported() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Encoding: gzip"], body: Array("canary, not gzip".utf8)))
        let error = try await expectFailure(.badCoding, native: 61, of: .withSecrets("/", on: server))
        #expect(!error.isRetryable)
        #expect(error.response?.status == 200)
    }

    @Test func aBodyAboveItsLimitIsTooLarge() async throws {
        let server = try LoopbackServer()
        server.script("/announced", Reply(patternLength: 1001))
        server.script("/chunked", Reply(patternLength: 1001, chunkBytes: 10))
        for path in ["/announced", "/chunked"] {
            var request = Request<Bytes>.withSecrets(path, on: server)
            request.limits = Limits()
            request.limits.maxBodyBytes = 1000
            // CURLE_FILESIZE_EXCEEDED.
            let error = try await expectFailure(.bodyTooLarge, native: 63, of: request)
            #expect(!error.isRetryable)
            #expect(error.response?.status == 200)
            #expect(error.response.map { $0.bytes.count <= 1000 } == true)
        }
    }

    @Test(arguments: [0, -1])
    func forbiddenBodyIsRejectedAtItsFirstByte(limit: Int) async throws {
        let server = try LoopbackServer()
        server.script("/one", Reply(body: [7], chunkBytes: 1))
        server.script("/none", Reply(status: 204))
        var request = Request<Bytes>(server.url("/one"))
        request.limits = Limits()
        request.limits.maxBodyBytes = limit
        _ = try await expectFailure(.bodyTooLarge, of: request, from: Agent())
        request.url = server.url("/none")
        #expect(try await Agent().send(request).status == 204)
    }

    @Test func aHeadAboveItsLimitIsTooLarge() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["X: \(String(repeating: canary, count: 500))"]))
        var request = Request<Bytes>.withSecrets("/", on: server)
        request.limits = Limits()
        request.limits.maxHeadBytes = 1000
        let error = try await expectFailure(.headTooLarge, of: request)
        #expect(!error.isRetryable)
        #expect(!error.description.contains(canary))
    }

    @Test func unacceptedResponseErrorContainsNoSecret() async throws {
        let server = try LoopbackServer()
        server.script("/404", Reply(status: 404, body: Array(canary.utf8)))
        server.script("/text", .bytes([0xFF], contentType: "text/plain"))
        server.script("/json", .json("{}"))
        let missing = Request<Bytes>.withSecrets("/404", on: server).decoded(by: .nothing)
        var refused = missing
        refused.acceptedStatuses = 200..<300
        try await expectFailure(.status, native: 404, of: refused)
        let text = Request<Bytes>.withSecrets("/text", on: server).decoded(by: Decoding<String>.text)
        try await expectFailure(.badCharset, of: text)
        try await expectFailure(
            .decoding, native: 0, of: Request.withSecrets("/json", on: server).decoded(by: Decoding<[Int]>.json))
    }
}
