import NetKitTesting
import Testing

@testable import NetKit

/// The list of secret names applies to redaction and to the identity of cached responses.
@Suite(.timeLimit(.minutes(5)))
struct SecretNamesTests {
    private static let canary = "CANARY"
    private let redaction = Redaction()

    @Test(arguments: [
        "X-Api-Key", "Cf-Access-Jwt-Assertion", "X-Amzn-Oidc-Data", "X-Forwarded-Access-Token", "api_key", "apiKey",
        "PHPSESSID", "SAMLResponse", "client_assertion", "AWSAccessKeyId", "X-Amz-Signature",
    ])
    func secretNameIsRedactedEverywhere(name: String) {
        for location in [SecretLocation.field, .parameter, .member, .cookie] {
            #expect(Redaction.Names.usual.contains(name, as: location))
        }
    }

    @Test(arguments: ["monkey", "Idempotency-Key", "keyword", "tokenizer", "design", "author", "passenger", "spinner"])
    func similarNamesAreNotSecrets(name: String) {
        for location in [SecretLocation.field, .parameter, .member, .cookie] {
            #expect(!Redaction.Names.usual.contains(name, as: location))
        }
        #expect(redaction.hiding(url: "/?\(name)=1") == "/?\(name)=1")
    }

    @Test func appCanAddAndRemoveSecretNames() {
        var names = Redaction.Names.usual
        names.parts = ["customer-number"]
        names.ends = ["badge"]
        names.exceptions = ["Page-Token", "sid"]
        #expect(names.contains("X-Customer-Number") && names.contains("customerNumber") && names.contains("staffBadge"))
        #expect(names.contains("X-Api-Key") && !names.contains("pageToken") && !names.contains("SID"))
        #expect(!Redaction.Names(parts: ["x"]).contains("Authorization"))
    }

    @Test(arguments: [
        ("/cb?code=s&state=1", "/cb?code=[hidden]&state=1"), ("/cb?ticket=s", "/cb?ticket=[hidden]"),
        ("/app;jsessionid=s", "/app;jsessionid=[hidden]"),
        ("/a;x=1;PHPSESSID=s/b;y=2", "/a;x=1;PHPSESSID=[hidden]/b;y=2"),
        ("/app;jsessionid=s?q=1#f", "/app;jsessionid=[hidden]?q=1#f"), ("/a;b/c;d=1", "/a;b/c;d=1"),
        ("/?q=1;token=s", "/?q=1;token=[hidden]"), ("/?q=1;token=s;t&x=2", "/?q=1;token=[hidden]&x=2"),
        ("/?type=text/html;charset=utf-8", "/?type=text/html;charset=utf-8"),
        ("/?zip_code=1&statusCode=2&status=3", "/?zip_code=1&statusCode=2&status=3"),
    ])
    func secretsAreRedactedInAURL(url: String, shown: String) {
        #expect(redaction.hiding(url: url) == shown)
    }

    @Test func codeMemberIsASecretIfItIsAString() {
        func shown(_ json: String) -> String? {
            redaction.hiding(body: Bytes(Array(json.utf8)), contentType: "application/json")
        }
        #expect(shown(#"{"code":"s","a":1}"#) == #"{"code":"[hidden]","a":1}"#)
        #expect(shown(#"{"code": 404, "error": {"code": null}}"#) == #"{"code": 404, "error": {"code": null}}"#)
        #expect(shown(#"{"pin": 1234, "spin": 1}"#)?.contains("1234") == false)
        let form = redaction.hiding(
            body: Bytes(Array("grant_type=x&code=s&country_code=1".utf8)),
            contentType: "application/x-www-form-urlencoded")
        #expect(form == "grant_type=x&code=[hidden]&country_code=1")
    }

    @Test func secretsAreRedactedInAFieldWithAURL() {
        let shown = redaction.hiding([
            "X-Original-URL": "/a?token=s", "X-Forwarded-Uri": "https://a/?code=s", "X-A": "b?c",
        ])
        #expect(
            shown["X-Original-URL"] == "/a?token=[hidden]" && shown["X-Forwarded-Uri"] == "https://a/?code=[hidden]")
        #expect(shown["X-A"] == "b?c")
    }

    @Test func redactedTextContainsNoBidirectionalControls() {
        let request = Request<Bytes>(
            "http://a.example/\u{202E}x;jsessionid=\(Self.canary)", headers: ["X-A": "\u{2066}\u{61C}"])
        for text in ["\(request)", "\(request.headers)", NetError(.usage, "\u{200E}\u{9B}").message] {
            #expect(
                !text.unicodeScalars.contains { "\u{202E}\u{2066}\u{61C}\u{200E}\u{9B}".unicodeScalars.contains($0) })
            #expect(!text.contains(Self.canary))
        }
    }

    // MARK: - The identity of a cached response

    private func agent(_ text: String, _ caching: Caching) -> Agent {
        let stub = StubTransport()
        var reply = StubReply.text(text)
        reply.headers["Cache-Control"] = "max-age=9900"
        stub.register("*", with: reply)
        var configuration = Agent.Configuration()
        configuration.interceptors = [caching]
        return Agent(configuration, transport: stub)
    }

    private func send(_ name: String, _ value: String, _ caching: Caching, _ rules: CacheRules) async throws -> String {
        let agent = agent("of \(value)", caching)
        var request = Request<Bytes>("http://a.example/me", headers: [name: value])
        request.caching = rules
        return String(decoding: Array(try await agent.send(request).value), as: UTF8.self)
    }

    @Test(arguments: [
        "X-Api-Key", "X-Auth-Token", "Private-Token", "X-Vault-Token", "X-Forwarded-Access-Token", "apikey",
        "X-Session-Id",
    ])
    func secretFieldSeparatesUsersInTheCache(name: String) async throws {
        let folder = try TemporaryTree()
        let policies: [CacheRules] = [.application(CachePolicy(maximumAge: .seconds(9900))), .http(HTTPCachePolicy())]
        for rules in policies {
            for store in [
                MemoryCacheStore() as any CacheStore, DiskCacheStore(directory: folder.file("c\(policies.count)")),
            ] {
                let caching = Caching(store)
                #expect(try await send(name, "alice-\(Self.canary)", caching, rules) == "of alice-\(Self.canary)")
                await caching.finish()
                #expect(try await send(name, "bob", caching, rules) == "of bob")
                #expect(try await send(name, "alice-\(Self.canary)", caching, rules) == "of alice-\(Self.canary)")
                await caching.finish()
                try await store.removeAll(.all)
            }
        }
    }

    @Test func identityContainsNoSecret() async throws {
        let folder = try TemporaryTree()
        let caching = Caching(DiskCacheStore(directory: folder.file("cache")))
        let agent = agent("x", caching)
        var request = Request<Bytes>("http://a.example/me", headers: ["X-Api-Key": Self.canary])
        request.caching = .application(CachePolicy(maximumAge: .seconds(9900)))
        _ = try await agent.send(request)
        await caching.finish()
        let files = folder.files
        #expect(files.count > 1)
        for file in files {
            #expect(!String(decoding: file.bytes, as: UTF8.self).contains(Self.canary))
        }
    }

    @Test func appDefinedSecretNameSeparatesUsers() async throws {
        let rules = CacheRules.application(CachePolicy(maximumAge: .seconds(9900)))
        var names = Redaction.Names.usual
        names.parts = ["customer"]
        let (plain, told) = (Caching(MemoryCacheStore()), Caching(MemoryCacheStore(), secrets: names))
        for caching in [plain, told] {
            _ = try await send("X-Customer", "1", caching, rules)
            await caching.finish()
        }
        #expect(try await send("X-Customer", "2", plain, rules) == "of 1")
        #expect(try await send("X-Customer", "2", told, rules) == "of 2")
    }
}
