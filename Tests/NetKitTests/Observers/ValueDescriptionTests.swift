import NetKit
import NetKitTesting
import Testing

/// Printed values hide secrets, because prints end up in logs.
struct ValueDescriptionTests {
    private func description(_ value: some Any) -> String {
        var dumped = ""
        dump(value, to: &dumped)
        return "\(value)\n\(String(reflecting: value))\n\(dumped)"
    }

    private func expectNoSecret(_ value: some Any, telling part: String) {
        let description = description(value)
        #expect(!description.contains("canary"), "\(description)")
        #expect(description.contains(part), "\(description)")
    }

    @Test func requestDescriptionContainsItsURLAndNoSecret() {
        var request = Request<Bytes>(
            "http://me:canary@h.example/path?q=canary#canary", method: .post,
            headers: ["Authorization": "canary", "X-Plain": "shown"])
        request.credentials = .basic(user: "me", password: "canary")
        request.proxy = Proxy("http://me:canary@p.example:1", credentials: .basic(user: "a", password: "canary"))
        expectNoSecret(request, telling: "POST \"http://h.example/path\"")
        expectNoSecret(request, telling: "shown")
    }

    @Test func configurationDescriptionContainsItsBaseAndNoSecret() {
        var configuration = Agent.Configuration(baseURL: "http://me:canary@h.example/v1?canary")
        configuration.headers = ["Authorization": "canary"]
        configuration.proxy = Proxy("http://me:canary@p.example:1")
        expectNoSecret(configuration, telling: "http://h.example/v1")
    }

    /// A combining accent after the last "@" forms one `Character` with it.
    @Test(arguments: ["http://me:canary@", "http://me:can@canary@", "me:canary@", "http://me:canary@\u{301}"])
    func proxyDescriptionContainsItsAddressAndNoSecret(front: String) {
        expectNoSecret(Proxy(front + "p.example:1"), telling: "p.example:1")
    }

    @Test func cookieDescriptionContainsItsNameAndNotItsValue() {
        expectNoSecret(Cookie(name: "sid", value: "canary", domain: "h.example"), telling: "sid")
    }

    @Test func streamDescriptionContainsItsHeadAndNoSecret() async throws {
        let stub = StubTransport()
        stub.register("/a", with: .text("canary"))
        let agent = Agent(.init(baseURL: "http://h.example"), transport: stub)
        expectNoSecret(try await agent.stream(Request<Bytes>("/a?q=canary")), telling: "status: 200")
    }

    /// A combining accent forms one `Character` with the preceding mark.
    @Test(arguments: ["?\u{301}canary", "#\u{301}canary", "?\u{301}a?canary", "#\u{301}?canary"])
    func combiningMarkDoesNotHideADelimiter(end: String) async throws {
        let url = "http://h.example/path\(end)"
        expectNoSecret(Request<Bytes>(url), telling: "\"http://h.example/path\"")
        expectNoSecret(Agent.Configuration(baseURL: url), telling: "http://h.example/path")
        let stub = StubTransport()
        stub.register("*", with: .text("x", status: 404))
        let agent = Agent(transport: stub)
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>(url)) }
        #expect(error?.code == .status && error.map { "\($0)".contains("canary") } == false)
    }
}
