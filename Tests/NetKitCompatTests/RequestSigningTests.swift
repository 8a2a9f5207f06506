import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct RequestSigningTests {
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

    @Test(arguments: [0, 20, 64, 65, 131])
    func keyOfEveryLengthIsUsed(length: Int) async throws {
        let key = Bytes(Array(repeating: 0xAA, count: length))
        let signing = RequestSigning(keyID: "app", key: key, time: StubTime(epochSeconds: 7).source)
        var request = Request<Bytes>("http://h/")
        let text = try signing.signedText(of: request, at: "7")
        request.interceptors = [signing]
        let stub = StubTransport { _ in .text("x") }
        _ = try await Agent(transport: stub).send(request)
        let digits = try Digest.hmacSHA256(key: key, Bytes(Array(text.utf8))).hexText
        #expect(stub.requests[0].headers["X-Signature"] == "keyId=app,signature=\(digits)")
    }

    @Test(arguments: [
        ("http://h", "h", "/"), ("http://h:80/x", "h", "/x"), ("https://h:80/", "h:80", "/"),
        ("https://h:0443/", "h", "/"), ("http://h:/", "h", "/"),
        ("http://[::1]/", "[::1]", "/"), ("http://[::1]:8080?q", "[::1]:8080", "/?q"),
        ("http://u:p@h:81/a@b:1?c=/", "h:81", "/a@b:1?c=/"), ("HTTPS://H:443/?#f?g", "H", "/?"),
    ])
    func signatureCoversHostAndTarget(url: String, host: String, target: String) throws {
        let text = try RequestSigning(keyID: "app", key: []).signedText(of: Request(url), at: "1")
        #expect(text.hasPrefix("GET\n\(target)\nhost:\(host)\n"))
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
