import NetKit
import Testing

struct RequestTests {
    @Test func aRequestCanBeSentAgainAndAgain() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let agent = Agent()
        let request = Request<String>(server.url("/"), method: .post, headers: ["X": "1"], body: .text("again"))
        for _ in 0..<3 {
            #expect(try await agent.send(request).value == "again")
        }
        async let other = Agent().send(request).value
        #expect(try await other == "again")
        let exchanges = (0..<4).map { server.receivedBytes($0) }
        #expect(Set(exchanges).count == 1)
    }

    @Test func copiesAreIndependent() {
        let original = Request<Bytes>("a", headers: ["X": "1"], body: .text("b"))
        var copy = original
        copy.method = .put
        copy.url = "c"
        copy.headers["X"] = "2"
        copy.body?.contentType = nil
        copy.limits = Limits()
        copy.redirects = .return
        copy.trust = TrustPolicy()
        copy.addressOverrides = [AddressOverride()]
        copy.acceptsCodings = false
        #expect(original.method == .get)
        #expect(original.url == "a")
        #expect(original.headers == ["X": "1"])
        #expect(original.body?.contentType == "text/plain; charset=utf-8")
        #expect(original.limits == Limits())
        #expect(original.redirects == .inherited)
        #expect(original.trust == nil)
        #expect(original.addressOverrides.isEmpty)
        #expect(original.acceptsCodings)
    }

    @Test func changingTheDecodingKeepsEverythingElse() {
        var request = Request<Bytes>("a", method: .put, headers: ["X": "1"], body: Body([7]))
        request.limits = Limits()
        request.limits.maxRedirects = 3
        request.redirects = .return
        request.trust = TrustPolicy(acceptsAnything: true)
        request.httpVersionPolicy = .http1
        request.acceptsCodings = false
        request.addressOverrides = [AddressOverride(toPort: 9)]
        request.acceptedStatuses = 418..<419
        let other = request.decoded(by: Decoding<String>.text)
        #expect(other.method == .put)
        #expect(other.url == "a")
        #expect(other.headers == ["X": "1"])
        #expect(other.body?.bytes == [7])
        #expect(other.limits.maxRedirects == 3)
        #expect(other.redirects == .return)
        #expect(other.trust == TrustPolicy(acceptsAnything: true))
        #expect(other.httpVersionPolicy == .http1)
        #expect(!other.acceptsCodings)
        #expect(other.addressOverrides == [AddressOverride(toPort: 9)])
        #expect(other.acceptedStatuses == StatusSet(418..<419))
    }

    @Test func onlyBytesAcceptEveryStatusByDefault() {
        #expect(Request<Bytes>("a").acceptedStatuses == .any)
        #expect(Request<Void>("a").acceptedStatuses == .automatic)
        #expect(Request<String>("a").acceptedStatuses == .automatic)
        #expect(Request<[Int]>("a").acceptedStatuses == .automatic)
    }
}
