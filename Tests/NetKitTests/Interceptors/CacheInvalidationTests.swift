import NetKit
import NetKitTesting
import Testing

/// Invalidation of stored responses by unsafe requests, also through redirects (RFC 9111, 4.4).
@Suite(.timeLimit(.minutes(5)))
struct CacheInvalidationTests {
    private let fixture = CacheFixture(.server())

    /// Stores a response under each of these URLs.
    private func store(_ urls: String...) async throws {
        for url in urls {
            fixture.stub.register(
                url, method: .get, with: StubReply(headers: ["Cache-Control": "max-age=60"], body: [.text("1")]))
            _ = try await fixture.agent.send(Request<Bytes>(url))
            #expect(try await isStored(url))
        }
    }

    private func isStored(_ url: String) async throws -> Bool {
        try await fixture.agent.cached(Request<Bytes>(url)).decision.isUse
    }

    private func change(_ url: String, _ method: Method) async -> Ending {
        await ending(of: Request<Bytes>(url, method: method, body: .text("x")), from: fixture.agent)
    }

    @Test func redirectedUnsafeRequestInvalidatesEveryHop() async throws {
        try await store("/a", "/b", "http://other/c", "/rest")
        fixture.stub.register("/a", method: .put, with: .redirect(to: "/b", status: 307))
        fixture.stub.register("/b", method: .put, with: .redirect(to: "http://other/c", status: 308))
        fixture.stub.register("http://other/c", method: .put, with: .status(204))
        #expect(await change("/a", .put) == .answered)
        for url in ["/a", "/b", "http://other/c"] {
            #expect(try await !isStored(url), "\(url)")
        }
        #expect(try await isStored("/rest"))
    }

    @Test(arguments: [301, 302, 303])
    func successfulChangeInvalidatesEvenIfTheRedirectedGetFails(status: Int) async throws {
        for reply in [StubReply.status(404), .status(500), .failure(.reset)] {
            try await store("/cart")
            fixture.stub.register("/cart", method: .post, with: .redirect(to: "/nothere", status: status))
            fixture.stub.register("/nothere", method: .get, with: reply)
            _ = await change("/cart", .post)
            #expect(try await !isStored("/cart"))
        }
    }

    @Test func getAfterAChangeInvalidatesURLsOfItsOwnOrigin() async throws {
        try await store("/there", "http://other/there")
        for url in ["/there", "http://other/there"] {
            fixture.stub.register("/cart", method: .post, with: .redirect(to: url, status: 303))
            #expect(await change("/cart", .post) == .answered)
        }
        #expect(try await !isStored("/there"))
        // A GET invalidates nothing, and a response cannot invalidate another origin's entries.
        #expect(try await isStored("http://other/there"))
    }

    @Test func failedChangeAfterARedirectKeepsUnchangedEntries() async throws {
        try await store("/a", "http://other/b")
        fixture.stub.register("/a", method: .delete, with: .redirect(to: "http://other/b", status: 307))
        fixture.stub.register("http://other/b", method: .delete, with: .status(500))
        #expect(await change("/a", .delete) == .answered)
        #expect(try await !isStored("/a"))
        #expect(try await isStored("http://other/b"))
    }

    @Test func changeWithATruncatedResponseStillInvalidates() async throws {
        try await store("/a")
        fixture.stub.register(
            "/a", method: .put, with: StubReply(body: [.text("x"), .fail(NetError(.cutShort, "cut"))]))
        #expect(await change("/a", .put) == .failed(.cutShort))
        #expect(try await !isStored("/a"))
        // A request without a response invalidates nothing.
        try await store("/b")
        fixture.stub.register("/b", method: .put, with: .failure(.refused))
        #expect(await change("/b", .put) == .failed(.refused))
        #expect(try await isStored("/b"))
    }

    /// A response that was requested before a change may be older than the change. If it were stored, it would hide the
    /// change while it is fresh.
    @Test(arguments: [200, 304])
    func responseRequestedBeforeAChangeIsNotStoredAfterIt(status: Int) async throws {
        let gate = StubGate()
        let fields: Headers = ["Cache-Control": "max-age=60", "ETag": "\"a\""]
        let old = StubReply(status: status, headers: fields, body: [.text("1")])
        fixture.stub.register(
            "/a", method: .get, with: StubReply(headers: fields, body: [.text("1")]), old.held(by: gate))
        fixture.stub.register("/a", method: .put, with: .status(204))
        _ = try await fixture.agent.send(Request<Bytes>("/a"))
        fixture.pass(60)
        async let late = fixture.agent.send(Request<Bytes>("/a"))
        try await gate.waitForArrivals(1)
        #expect(await change("/a", .put) == .answered)
        gate.open()
        #expect(try await late.bytes.text == "1")
        #expect(try await !isStored("/a"))
    }

    @Test(arguments: [
        ("http://EXAMPLE.test/a", "http://example.test/a"), ("http://bücher.test/a", "http://xn--bcher-kva.test/a"),
        ("http://b%C3%BCcher.test/a", "http://BÜCHER.test/a"), ("http://ex%61mple.test/a", "http://example.test/a"),
        ("http://example.test:80/a", "http://example.test/a"), ("http://example.test:080/a", "http://example.test/a"),
        ("http://example.test./a", "http://example.test/a"), ("http://127.1/a", "http://127.0.0.1/a"),
        ("http://[0::1]/a", "http://[::1]/a"), ("http://[::ffff:7f00:1]/a", "http://127.0.0.1/a"),
    ])
    func changeInvalidatesTheEntryForEverySpellingOfTheHost(one: String, other: String) async throws {
        fixture.stub.register("*", method: .put, with: .status(204))
        for (stored, requested) in [(one, other), (other, one)] {
            try await store(stored)
            #expect(try await isStored(requested))
            #expect(await change(requested, .put) == .answered)
            #expect(try await !isStored(stored))
        }
    }

    @Test func responseRequestedAfterAChangeIsStored() async throws {
        fixture.stub.register(
            "/a", method: .post,
            with: StubReply(
                headers: ["Cache-Control": "max-age=60", "Content-Location": "/a"], body: [.text("2")]))
        #expect(await change("/a", .post) == .answered)
        #expect(try await isStored("/a"))
        fixture.stub.register("/a", method: .put, with: .status(204))
        #expect(await change("/a", .put) == .answered)
        try await store("/a")
    }
}
