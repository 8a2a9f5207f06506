import FoundationEssentials
import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Operations on the cache other than sending.
@Suite(.timeLimit(.minutes(5)))
struct CacheManagementTests {
    private let fixture = CacheFixture(.app(50))
    private let request = Request<String>("/")

    @Test func storedResponseCanBeReadWithoutSending() async throws {
        let nothing = try await fixture.agent.cached(request)
        #expect(nothing.response == nil && nothing.decision == .fetch(.absent))
        fixture.stub.register("/", with: .text("1"))
        _ = try await fixture.agent.send(request)
        #expect(try await fixture.agent.cached(request).decision == .use(.fresh))
        fixture.pass(51)
        let late = try await fixture.agent.cached(request)
        #expect(late.response?.value == "1" && late.decision == .fetch(.expired) && late.report.age == .seconds(51))
        let other = try await fixture.agent.cached(request.cached(.app(100) { $0.version = 1 }))
        #expect(other.response?.value == "1" && other.decision == .fetch(.versionMismatch))
        let number = try await fixture.agent.cached(Request<[Int]>("/"))
        #expect(number.response == nil)
        #expect(fixture.stub.requests.count == 1)
    }

    @Test func responseOfAnotherRequestCanBeStoredUnderARequest() async throws {
        fixture.stub.register("/other", with: .text("shared"))
        let other = try await fixture.agent.send(Request<String>("/other").cached(.off))
        #expect(try await fixture.agent.store(other, for: request))
        let answer = try await fixture.agent.send(request)
        #expect(answer.value == "shared" && answer.source == .cache)
        #expect(try await !fixture.agent.store(other, for: request.cached(.app(0))))
        let refused = Response<Bytes>(status: 500)
        #expect(try await !fixture.agent.store(refused, for: request))
        #expect(try await fixture.agent.send(request).value == "shared")
    }

    @Test func entriesCanBeRemovedByRequestTagAndHost() async throws {
        fixture.stub.register("*", with: .text("1"))
        let tagged = request.cached(.app(50) { $0.tags = ["cities"] })
        _ = try await fixture.agent.send(request)
        #expect(try await fixture.agent.removeCached(request))
        #expect(try await !fixture.agent.removeCached(request))
        _ = try await fixture.agent.send(tagged)
        #expect(try await fixture.store.removeAll(.tagged("cities")) == 1)
        _ = try await fixture.agent.send(Request<String>("http://HOST:8080/"))
        #expect(try await fixture.store.removeAll(.host("host")) == 1)
        #expect(try await fixture.store.usage().entries == 0)
    }

    @Test func responseCanBePrefetchedIntoTheCache() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        try await fixture.agent.warm(request)
        try await fixture.agent.warm(request)
        #expect(try await fixture.agent.cached(request).response?.value == "2")
        #expect(try await fixture.agent.send(request).source == .cache)
        try await fixture.agent.warm(Request<Bytes>("/").cached(.server()))
        #expect(fixture.stub.requests.count == 3)
    }

    @Test func cacheOperationsWithoutACacheReturnNothing() async throws {
        let bare = Agent(.init(baseURL: "http://stub"), transport: fixture.stub)
        let code = await failureCode { () async throws(NetError) in _ = try await bare.cached(request) }
        #expect(code == .usage)
        let off = await failureCode { () async throws(NetError) in try await fixture.agent.warm(request.cached(.off)) }
        #expect(off == .usage)
    }

    @Test func directoryFiltersSeparateRequests() async throws {
        let folder = try TemporaryTree()
        let base = folder.file("base")
        let directories = CacheDirectories(
            base,
            filters: [
                { path, request in request.url.contains("/images") ? path + "-images" : path },
                { path, request in request.headers["X-Place"].map { path + "-" + $0 } ?? path },
            ])
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [Caching(in: directories, rules: .app(50))]
        let agent = Agent(configuration, transport: fixture.stub)
        fixture.stub.register("*", with: .text("1"))
        for request in [
            Request<String>("/"), Request("/images/1"), Request("/images/2", headers: ["X-Place": "small"]),
        ] {
            _ = try await agent.send(request)
            #expect(try await agent.send(request).source == .cache)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(names == ["base", "base-images", "base-images-small"])
        #expect(try await DiskCacheStore(directory: base + "-images").usage().entries == 1)
    }

    @Test func symbolicLinksAndPipesInTheDirectoryAreIgnored() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let precious = folder.file("precious")
        #expect(FileManager.default.createFile(atPath: precious, contents: Data("precious".utf8)))
        let fixture = CacheFixture(.app(50), store: DiskCacheStore(directory: path))
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await fixture.agent.send(request)
        let entry = try #require(
            try FileManager.default.contentsOfDirectory(atPath: path).first { $0.utf8.count > 32 })
        try FileManager.default.removeItem(atPath: path + "/" + entry)
        try FileManager.default.createSymbolicLink(atPath: path + "/" + entry, withDestinationPath: precious)
        #expect(try await fixture.agent.send(request).value == "2")
        #expect(try await fixture.agent.send(request).source == .cache)
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }
}
