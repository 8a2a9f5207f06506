import NetKit
import NetKitTesting
import Testing

/// Values of selecting fields that are written to disk.
@Suite(.timeLimit(.minutes(5)))
struct VariantSecretsTests {
    private static let names = ["Authorization", "Cookie", "X-Api-Key", "X-Account"]

    /// Creates an agent with a cache on disk.
    private func scene(_ folder: TemporaryTree, _ rules: CacheRules) -> CacheScene {
        CacheScene(rules, store: DiskCacheStore(directory: folder.file("c")))
    }

    private func expectNoCanary(in folder: TemporaryTree, of scene: CacheScene) async throws {
        let listings = try await (scene.store as? DiskCacheStore)?.list() ?? []
        #expect(listings.count >= 2)
        for listing in listings {
            #expect(listing.key.explanation.contains(canary) == false)
        }
        for file in folder.files {
            #expect(String(decoding: file.bytes, as: UTF8.self).contains(canary) == false, "\(file.path)")
        }
    }

    @Test(arguments: names)
    func whatAResponseVariesByIsNotOnTheDiskInTheClear(name: String) async throws {
        let folder = try TemporaryTree()
        let scene = scene(folder, .server())
        let fields: Headers = ["Cache-Control": "max-age=50", "Vary": "\(name), Accept-Language"]
        scene.stub.answer("/", with: (0..<9).map { StubReply(headers: fields, body: [.text("\($0)")]) })
        for (value, body) in [("\(canary)-a", "0"), ("\(canary)-b", "1"), ("\(canary)-a", "0")] {
            let request = Request<String>("/", headers: ["\(name)": value, "Accept-Language": "de"])
            #expect(try await scene.agent.send(request).value == body)
        }
        try await expectNoCanary(in: folder, of: scene)
    }

    @Test func whatAPolicyCountsIsNotOnTheDiskInTheClear() async throws {
        let folder = try TemporaryTree()
        let scene = scene(folder, .app(50) { $0.keyFields = Self.names + ["Accept-Language"] })
        scene.stub.answer("/", with: (0..<9).map { StubReply(body: [.text("\($0)")]) })
        for name in Self.names {
            let values = try await [canary + "a", canary + "b", canary + "a"].asyncMap { value in
                try await scene.agent.send(Request<String>("/", headers: ["\(name)": value])).value
            }
            #expect(values[0] == values[2] && values[0] != values[1])
        }
        try await expectNoCanary(in: folder, of: scene)
    }

    @Test func whatIsNegotiatedCanBeReadInAKey() async throws {
        let folder = try TemporaryTree()
        let scene = scene(folder, .server())
        let fields: Headers = ["Cache-Control": "max-age=50", "Vary": "Accept-Language"]
        scene.stub.answer("/", with: StubReply(headers: fields, body: [.text("x")]))
        _ = try await scene.agent.send(Request<String>("/", headers: ["Accept-Language": "de-CH"]))
        let listings = try await (scene.store as? DiskCacheStore)?.list() ?? []
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
