import NetKitTesting
import Testing

@testable import NetKit

struct RequestSigningTests {
    // RFC 4231, 4.2 to 4.8, without the truncated one.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func digestMatchesTheRFC(key: [UInt8], message: String, digits: String) throws {
        let digest = try Digest.hmacSHA256(key: Bytes(key), Bytes(Array(message.utf8)))
        #expect(digest.hexText == digits)
    }

    private func sent(_ request: Request<Bytes>) async throws -> StubRequest {
        let stub = StubTransport { _ in .text("x") }
        var configuration = Agent.Configuration()
        configuration.interceptors = [
            RequestSigning(keyID: "app", key: Bytes(Array("secret".utf8)), time: StubTime(epochSeconds: 1000.9).source)
        ]
        _ = try await Agent(configuration, transport: stub).send(request)
        return stub.requests[0]
    }

    @Test func fieldsCanHaveOtherNames() async throws {
        var signing = RequestSigning(keyID: "app", key: [1], time: StubTime(epochSeconds: 1000.9).source)
        (signing.timestampField, signing.signatureField) = ("X-Date", "X-Proof")
        let stub = StubTransport { _ in .text("x") }
        var request = Request<Bytes>("http://h/")
        request.interceptors = [signing]
        _ = try await Agent(Agent.Configuration(), transport: stub).send(request)
        let headers = stub.requests[0].headers
        #expect(headers["X-Date"] == "1000" && headers["X-Proof"]?.hasPrefix("keyId=app,signature=") == true)
        #expect(headers["X-Timestamp"] == nil && headers["X-Signature"] == nil)
    }

    @Test func signatureCoversTheConfiguredComponents() async throws {
        let request = Request<Bytes>(
            "HTTPS://User:pw@Example.com:443/a%20b?q=1#f", method: .post, body: .text("hi", contentType: "text/plain"))
        let text = try RequestSigning(keyID: "app", key: []).signedText(of: request, at: "1000")
        let digest = try Digest.of([104, 105], .sha256).hexText
        #expect(text == "POST\n/a%20b?q=1\nhost:Example.com\ncontent-type:text/plain\n1000\n\(digest)")
        let received = try await sent(request)
        let signature = try Digest.hmacSHA256(key: Bytes(Array("secret".utf8)), Bytes(Array(text.utf8))).hexText
        #expect(received.headers["X-Timestamp"] == "1000")
        #expect(received.headers["X-Signature"] == "keyId=app,signature=\(signature)")
    }

    @Test(arguments: [
        "/a/../b", "/a/./b?x=1", "/\u{e9}", "/a?x=\u{e9}", "/.a/b", "/a?x=/../b", "/a;b/../%7e", "/..", "?x=/.", "/|?^",
    ])
    func signatureCoversThePathAsSent(path: String) async throws {
        let server = try MockServer()
        try server.register("*", with: .text("x"))
        let signed = Collected<String>()
        var configuration = Agent.Configuration()
        let signing = RequestSigning(keyID: "app", key: [])
        configuration.interceptors = [
            signing,
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                let text = try signing.signedText(of: call.request, at: call.request.headers["X-Timestamp"] ?? "")
                let digits = try Digest.hmacSHA256(key: [], Bytes(Array(text.utf8))).hexText
                #expect(call.request.headers["X-Signature"] == "keyId=app,signature=\(digits)")
                signed.append(String(text.split(separator: "\n")[1]))
                return try await next(call)
            },
        ]
        _ = try await Agent(configuration).send(Request<Bytes>(server.url + path))
        #expect(signed.values == server.requests.map(\.target))
    }

    @Test func signatureCoversTheHostAsSent() async throws {
        let server = try MockServer()
        try server.register("*", with: .text("x"))
        var configuration = Agent.Configuration(baseURL: "http://LocalHost:\(server.port)")
        let signing = RequestSigning(keyID: "app", key: [])
        let signed = Collected<String>()
        configuration.interceptors = [
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                signed.append(try signing.signedText(of: call.request, at: "0"))
                return try await next(call)
            }
        ]
        _ = try await Agent(configuration).send(Request<Void>("/"))
        let host = try #require(server.requests.first?.headers["Host"])
        #expect(signed.values.first?.split(separator: "\n")[2] == "host:\(host)")
    }

    @Test func anyChangeAltersTheSignature() async throws {
        var others: [Request<Bytes>] = [
            Request("http://a/"), Request("http://a/?"), Request("http://b/"), Request("http://a/", method: .put),
            Request("http://a/", headers: ["Content-Type": "a/b"]), Request("http://a/", body: Body([0])),
            Request("http://a/", headers: ["Host": "c"]),
        ]
        others.append(Request("http://a/x"))
        let signatures = try await others.asyncMap { try await sent($0).headers["X-Signature"] }
        #expect(Set(signatures).count == others.count)
    }

    @Test func streamedBodyCannotBeSigned() async throws {
        for body in [Body.file("/etc/hostname"), .once(Pieces([Bytes([1])]))] {
            let error = await #expect(throws: NetError.self) {
                try await sent(Request("http://a/", method: .put, body: body))
            }
            #expect(error?.code == .usage)
        }
    }
}

extension Array {
    fileprivate func asyncMap<Other>(_ transform: (Element) async throws -> Other) async rethrows -> [Other] {
        var others: [Other] = []
        for element in self {
            others.append(try await transform(element))
        }
        return others
    }
}
