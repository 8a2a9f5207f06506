import FoundationEssentials
import NetKit
import NetKitTesting
import Testing

/// Operations on the cache other than sending.
@Suite(.timeLimit(.minutes(5)))
struct CacheManagementTests {
    private let scene = CacheScene(.app(50))
    private let request = Request<String>("/")

    @Test func whatIsStoredCanBeAskedForWithoutSending() async throws {
        let nothing = try await scene.agent.cached(request)
        #expect(nothing.response == nil && nothing.decision == .fetch(.absent))
        scene.stub.answer("/", with: .text("1"))
        _ = try await scene.agent.send(request)
        #expect(try await scene.agent.cached(request).decision == .use(.fresh))
        scene.pass(51)
        let late = try await scene.agent.cached(request)
        #expect(late.response?.value == "1" && late.decision == .fetch(.expired) && late.report.age == .seconds(51))
        let other = try await scene.agent.cached(request.cached(.app(100) { $0.version = 1 }))
        #expect(other.response?.value == "1" && other.decision == .fetch(.versionMismatch))
        let number = try await scene.agent.cached(Request<[Int]>("/"))
        #expect(number.response == nil)
        #expect(scene.stub.requests.count == 1)
    }

    @Test func anotherRequestsAnswerIsStoredUnderARequest() async throws {
        scene.stub.answer("/other", with: .text("shared"))
        let other = try await scene.agent.send(Request<String>("/other").cached(.off))
        #expect(try await scene.agent.store(other, for: request))
        let answer = try await scene.agent.send(request)
        #expect(answer.value == "shared" && answer.source == .cache)
        #expect(try await !scene.agent.store(other, for: request.cached(.app(0))))
        let refused = Response<Bytes>(status: 500)
        #expect(try await !scene.agent.store(refused, for: request))
        #expect(try await scene.agent.send(request).value == "shared")
    }

    @Test func whatIsStoredCanBeRemovedByRequestTagAndHost() async throws {
        scene.stub.answer("*", with: .text("1"))
        let tagged = request.cached(.app(50) { $0.tags = ["cities"] })
        _ = try await scene.agent.send(request)
        #expect(try await scene.agent.removeCached(request))
        #expect(try await !scene.agent.removeCached(request))
        _ = try await scene.agent.send(tagged)
        #expect(try await scene.store.removeAll(tagged: "cities") == 1)
        _ = try await scene.agent.send(Request<String>("http://HOST:8080/"))
        #expect(try await scene.store.removeAll(from: "host") == 1)
        #expect(try await scene.store.usage().entries == 0)
    }

    @Test func whatIsToBeThereLaterCanBeFetchedNow() async throws {
        scene.stub.answer("/", with: .text("1"), .text("2"))
        try await scene.agent.warm(request)
        try await scene.agent.warm(request)
        #expect(try await scene.agent.cached(request).response?.value == "2")
        #expect(try await scene.agent.send(request).source == .cache)
        try await scene.agent.warm(Request<Bytes>("/").cached(.server()))
        #expect(scene.stub.requests.count == 3)
    }

    @Test func withoutACacheThereIsNothingToAsk() async throws {
        let bare = Agent(.init(baseURL: "http://stub"), transport: scene.stub)
        let code = await failureCode { () async throws(NetError) in _ = try await bare.cached(request) }
        #expect(code == .usage)
        let off = await failureCode { () async throws(NetError) in try await scene.agent.warm(request.cached(.off)) }
        #expect(off == .usage)
    }

    @Test func filtersGiveRequestsDirectoriesOfTheirOwn() async throws {
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
        let agent = Agent(configuration, transport: scene.stub)
        scene.stub.answer("*", with: .text("1"))
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

    @Test func plantedLinksAndPipesAreNeitherFollowedNorWaitedFor() async throws {
        let folder = try TemporaryTree()
        let path = folder.file("cache")
        let precious = folder.file("precious")
        #expect(FileManager.default.createFile(atPath: precious, contents: Data("precious".utf8)))
        let scene = CacheScene(.app(50), store: DiskCacheStore(directory: path))
        scene.stub.answer("/", with: .text("1"), .text("2"))
        _ = try await scene.agent.send(request)
        let entry = try #require(
            try FileManager.default.contentsOfDirectory(atPath: path).first { $0.utf8.count > 32 })
        try FileManager.default.removeItem(atPath: path + "/" + entry)
        try FileManager.default.createSymbolicLink(atPath: path + "/" + entry, withDestinationPath: precious)
        #expect(try await scene.agent.send(request).value == "2")
        #expect(try await scene.agent.send(request).source == .cache)
        #expect(FileManager.default.contents(atPath: precious) == Data("precious".utf8))
    }
}
