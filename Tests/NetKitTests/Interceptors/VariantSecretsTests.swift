import NetKit
import NetKitTesting
import Testing

/// The values of request fields that select a stored response are not written to disk in plain text.
@Suite(.timeLimit(.minutes(5)))
struct VariantSecretsTests {
    private static let names = ["Authorization", "Cookie", "X-Api-Key", "X-Account"]

    /// Creates an agent with a cache on disk.
    private func fixture(_ folder: TemporaryTree, _ rules: CacheRules) -> CacheFixture {
        CacheFixture(rules, store: DiskCacheStore(directory: folder.file("c")))
    }

    private func expectNoCanary(in folder: TemporaryTree, of fixture: CacheFixture) async throws {
        let listings = try await (fixture.store as? DiskCacheStore)?.list() ?? []
        #expect(listings.count >= 2)
        for listing in listings {
            #expect(listing.key.explanation.contains(canary) == false)
        }
        for file in folder.files {
            #expect(String(decoding: file.bytes, as: UTF8.self).contains(canary) == false, "\(file.path)")
        }
    }

    @Test(arguments: names)
    func varyValuesAreNotStoredInPlainText(name: String) async throws {
        let folder = try TemporaryTree()
        let fixture = fixture(folder, .server())
        let fields: Headers = ["Cache-Control": "max-age=5000", "Vary": "\(name), Accept-Language"]
        fixture.stub.register("/", with: (0..<9).map { StubReply(headers: fields, body: [.text("\($0)")]) })
        for (value, body) in [("\(canary)-a", "0"), ("\(canary)-b", "1"), ("\(canary)-a", "0")] {
            let request = Request<String>("/", headers: ["\(name)": value, "Accept-Language": "de"])
            #expect(try await fixture.agent.send(request).value == body)
        }
        try await expectNoCanary(in: folder, of: fixture)
    }

    @Test func keyFieldValuesAreNotStoredInPlainText() async throws {
        let folder = try TemporaryTree()
        let fixture = fixture(folder, .app(5000) { $0.keyFields = Self.names + ["Accept-Language"] })
        fixture.stub.register("/", with: (0..<9).map { StubReply(body: [.text("\($0)")]) })
        for name in Self.names {
            let values = try await [canary + "a", canary + "b", canary + "a"].asyncMap { value in
                try await fixture.agent.send(Request<String>("/", headers: ["\(name)": value])).value
            }
            #expect(values[0] == values[2] && values[0] != values[1])
        }
        try await expectNoCanary(in: folder, of: fixture)
    }

    @Test func negotiatedFieldsAreReadableInTheKey() async throws {
        let folder = try TemporaryTree()
        let fixture = fixture(folder, .server())
        let fields: Headers = ["Cache-Control": "max-age=5000", "Vary": "Accept-Language"]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("x")]))
        _ = try await fixture.agent.send(Request<String>("/", headers: ["Accept-Language": "de-CH"]))
        let listings = try await (fixture.store as? DiskCacheStore)?.list() ?? []
        #expect(listings.contains { $0.key.explanation.contains("de-ch") })
    }
}

extension Array {
    fileprivate func asyncMap<Other>(_ transform: (Element) async throws -> Other) async throws -> [Other] {
        var others: [Other] = []
        for element in self {
            others.append(try await transform(element))
        }
        return others
    }
}
