import NetKit
import NetKitTesting
import Testing

/// Secrets that a recorder does not write.
struct RecordedSecretsTests {
    private let recorder = Recorder()

    private func agent(_ reply: StubReply = .status(204)) -> Agent {
        let stub = StubTransport()
        stub.register("*", with: reply)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        return Agent(configuration, transport: stub)
    }

    private var exchange: Recording.Exchange {
        get throws { try #require(recorder.recording.exchanges.first) }
    }

    @Test(arguments: [
        ("text/json", #"{"token":"hunter2"}"#), ("text/javascript; charset=utf-8", #"{"token":"hunter2"}"#),
        ("application/json", "\u{FEFF}{\"token\":\"hunter2\"}"), ("application/json", #"{"token":"hunter2","a":}"#),
        ("application/json", #"{"a":"\ud800","token":"hunter2"}"#), ("application/json", #"{"token":"hunter2"#),
        ("application/problem+json", "{\"token\":\"hunter2\"}\n{\"token\":\"hunter2\"}"),
    ])
    func secretsAreRedactedInJSONOfAnyContentType(type: String, text: String) async throws {
        let request = Request<Bytes>("/", method: .post, body: .text(text, contentType: type))
        let response = try await agent(.text(text, contentType: type)).send(request)
        #expect(String(decoding: Array(response.bytes), as: UTF8.self).contains("hunter2"))
        for body in [try exchange.request.body?.text, try exchange.response?.body.text] {
            let written = try #require(body)
            #expect(!written.contains("hunter2") && written.contains(Redaction.mark))
        }
    }

    @Test func nonJSONBytesAreUnchanged() async throws {
        let bytes = Bytes([0x7B, 0x22, 0xFF, 0x00, 0x3A, 0x5C])
        _ = try await agent(.bytes(bytes, contentType: "application/json")).send(Request<Bytes>("/"))
        let kept = try exchange.response?.body.base64
        #expect(kept.map { Array($0) } == Array(bytes))
    }

    @Test func encodedBodyIsNotRecorded() async throws {
        let body = try Body.text(#"{"password":"hunter2"}"#, contentType: "application/json").gzipped()
        let request = Request<Bytes>("/", method: .post, body: body)
        _ = try await agent(.text("in")).send(request)
        #expect(try exchange.request.body == nil)
        let replay = ReplayTransport(recorder.recording)
        let again = try await Agent(.init(baseURL: "http://stub"), transport: replay).send(request)
        #expect(again.bytes == Bytes(Array("in".utf8)))
    }

    @Test func partsWithSecretNamesAreRedacted() async throws {
        var form = MultipartBody()
        form.append("hunter2", name: "user[password]")
        form.append("Bern", name: "city")
        form.append(Body(Bytes([0xFF, 0x00]), contentType: "image/x"), name: "photo", filename: "token.png")
        form.append("hunter2\r\n\r\n", name: "pin")
        _ = try await agent().send(Request<Bytes>("/", method: .post, body: try .multipart(form)))
        let body = try #require(try exchange.request.body?.base64)
        let written = String(decoding: body, as: UTF8.self)
        #expect(!written.contains("hunter2") && written.contains("Bern") && body.contains(0xFF))
        #expect(written.split(separator: Redaction.mark).count == 3 && written.hasSuffix("--\r\n"))
    }

    @Test func boundaryWithinALineDoesNotEndASecret() async throws {
        let text = "--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nhun--bter2\r\n--b--\r\n"
        let body = Body.text(text, contentType: "multipart/form-data; boundary=b")
        _ = try await agent().send(Request<Bytes>("/", method: .post, body: body))
        let written = try #require(try exchange.request.body?.text)
        #expect(!written.contains("hun") && !written.contains("ter2") && written.hasSuffix("\r\n--b--\r\n"))
    }
}
