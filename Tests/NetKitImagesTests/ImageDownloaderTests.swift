#if Images
import NetKit
import NetKitImages
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ImageDownloaderTests {
    private func url(_ number: Int) -> ImageRequest { ImageRequest("http://stub/\(number)") }

    /// Returns a stub whose responses wait for the gate. It counts concurrent transfers.
    private func held(by gate: StubGate, _ image: Image) throws -> StubTransport {
        let stub = StubTransport()
        stub.register("*", with: StubReply.bytes(try image.png(), contentType: "image/png").held(by: gate))
        return stub
    }

    /// Waits until the condition holds. Other tasks change it.
    private func until(_ condition: @Sendable () -> Bool) async {
        while !condition() {
            await Task.yield()
        }
    }

    @Test func defaultsMatchAFNetworking() {
        let downloader = ImageDownloader(agent: StubTransport().agent)
        #expect(downloader.maxActive == 4)
        #expect(downloader.cache is AutoPurgingImageCache)
    }

    @Test func identicalImageRequestsShareOneTransfer() async throws {
        let gate = StubGate()
        let stub = try held(by: gate, try plain(3, 3))
        let downloader = ImageDownloader(agent: stub.agent)
        async let first = downloader.image(url(1))
        async let second = downloader.image(url(1))
        try await gate.waitForArrivals(1)
        gate.open()
        let images = try await [first, second]
        #expect(images.allSatisfy { $0.image.width == 3 })
        #expect(stub.requests.count == 1)
        #expect(stub.requests.first?.headers["Accept"] == "image/*")
        let third = try await downloader.image(url(1))
        #expect(third.isFromCache && third.response == nil && stub.requests.count == 1)
    }

    @Test func differentHeadersSizesAndReloadsUseSeparateTransfers() async throws {
        let stub = try StubTransport(image: try plain(8, 8))
        let downloader = ImageDownloader(agent: stub.agent)
        var small = url(1)
        small.options.fit = .init(width: 4, height: 4)
        var marked = url(1)
        marked.headers["X-User"] = "2"
        var reload = url(1)
        reload.cachePolicy = .reload
        #expect(try await downloader.image(url(1)).image.width == 8)
        #expect(try await downloader.image(small).image.width == 4)
        #expect(try await downloader.image(marked).isFromCache == false)
        #expect(try await downloader.image(reload).isFromCache == false)
        #expect(stub.requests.count == 4)
        #expect(stub.requests.last?.headers["Cache-Control"] == "no-cache")
        #expect(try await downloader.image(url(1)).isFromCache)
    }

    @Test func requestBeforeAReloadDoesNotReplaceTheReloadedImage() async throws {
        let gate = StubGate()
        let stub = StubTransport()
        stub.register(
            "*", with: .bytes(try plain(2, 2).png(), contentType: "image/png").held(by: gate),
            .bytes(try plain(3, 3).png(), contentType: "image/png"))
        let downloader = ImageDownloader(agent: stub.agent)
        let older = Task { try await downloader.image(url(1)) }
        try await gate.waitForArrivals(1)
        var reload = url(1)
        reload.cachePolicy = .reload
        #expect(try await downloader.image(reload).image.width == 3)
        gate.open()
        #expect(try await older.value.image.width == 2)
        #expect(try await downloader.image(url(1)).image.width == 3)
        #expect(stub.requests.count == 2)
    }

    @Test func reloadBypassesTheAgentsCache() async throws {
        let stub = StubTransport()
        stub.register(
            "*", with: .bytes(try plain(2, 2).png(), contentType: "image/png"),
            .bytes(try plain(3, 3).png(), contentType: "image/png"))
        var configuration = Agent.Configuration()
        let policy = CachePolicy(maximumAge: .seconds(1_000))
        let caching = Caching(MemoryCacheStore(), rules: .application(policy))
        configuration.interceptors = [caching]
        let downloader = ImageDownloader(agent: Agent(configuration, transport: stub), cache: nil)
        #expect(try await downloader.image(url(1)).image.width == 2)
        await caching.finish()
        #expect(try await downloader.image(url(1)).image.width == 2)
        var reload = url(1)
        reload.cachePolicy = .reload
        #expect(try await downloader.image(reload).image.width == 3)
        await caching.finish()
        #expect(try await downloader.image(url(1)).image.width == 3)
        #expect(stub.requests.count == 2)
    }

    @Test func cacheOnlyImageRequestSendsNothing() async throws {
        let stub = try StubTransport(image: try plain())
        let downloader = ImageDownloader(agent: stub.agent)
        var request = url(1)
        request.cachePolicy = .onlyCached
        #expect(try await failure { try await downloader.image(request) }.code == .notCached)
        #expect(stub.requests.isEmpty)
        _ = try await downloader.image(url(1))
        #expect(try await downloader.image(request).isFromCache)
    }

    @Test func emptyURLFailsImmediately() async throws {
        let downloader = ImageDownloader(agent: StubTransport().agent)
        #expect(try await failure { try await downloader.image(ImageRequest("")) }.code == .badURL)
        let outcome = await withCheckedContinuation { continuation in
            #expect(downloader.download(ImageRequest("")) { continuation.resume(returning: $0) } == nil)
        }
        #expect(throws: NetError.self) { try outcome.get() }
    }

    @Test func failureReachesAllWaitersAndIsNotCached() async throws {
        let stub = StubTransport()
        stub.register("*", with: .bytes(Bytes(Array("no image".utf8)), contentType: "image/png"), .status(404))
        let downloader = ImageDownloader(agent: stub.agent)
        #expect(try await failure { try await downloader.image(url(1)) }.code == .badImage)
        #expect(try await failure { try await downloader.image(url(1)) }.code == .status)
        #expect(downloader.activeCount == 0)
    }

    @Test func cancellingQueuedDownloadsKeepsActiveOnesWithinTheLimit() async throws {
        let gate = StubGate()
        let stub = try held(by: gate, try plain())
        let downloader = ImageDownloader(agent: stub.agent, maxActive: 2)
        let tasks = (0..<10).map { number in Task { try await downloader.image(url(number)) } }
        try await gate.waitForArrivals(2)
        await until { downloader.waitingCount == 8 }
        // Cancelling a waiting request must not let another one start (AFNetworking's fault A26).
        let waiting = (0..<10).filter { number in !stub.requests.contains { $0.path == "/\(number)" } }
        for number in waiting.prefix(5) {
            tasks[number].cancel()
            #expect(try await failure { try await tasks[number].value }.code == .cancelled)
        }
        #expect(downloader.activeCount == 2 && downloader.waitingCount == 3)
        #expect(stub.requests.count == 2)
        gate.open()
        for number in 0..<10 where !waiting.prefix(5).contains(number) {
            _ = try await tasks[number].value
        }
        #expect(stub.requests.count == 5)
        await until { downloader.activeCount == 0 }
    }

    @Test func cancellingOneWaiterLeavesTheOthersRunning() async throws {
        let gate = StubGate()
        let downloader = ImageDownloader(agent: try held(by: gate, try plain()).agent)
        let running = Task { try await downloader.image(url(1)) }
        try await gate.waitForArrivals(1)
        let outcome = await withCheckedContinuation { continuation in
            let receipt = downloader.download(url(1)) { continuation.resume(returning: $0) }
            if let receipt {
                downloader.cancel(receipt)
                downloader.cancel(receipt)
            }
        }
        #expect(throws: NetError.self) { try outcome.get() }
        gate.open()
        #expect(try await running.value.image.width == 2)
    }

    @Test func requestAfterACancelStartsANewTransfer() async throws {
        let gate = StubGate()
        let stub = try held(by: gate, try plain())
        let downloader = ImageDownloader(agent: stub.agent)
        let first = Task { try await downloader.image(url(1)) }
        try await gate.waitForArrivals(1)
        first.cancel()
        #expect(try await failure { try await first.value }.code == .cancelled)
        let second = Task { try await downloader.image(url(1)) }
        try await gate.waitForArrivals(2)
        gate.open()
        #expect(try await second.value.image.width == 2)
        #expect(stub.requests.count == 2)
    }

    @Test(arguments: [ImageDownloader.Order.firstInFirstOut, .lastInFirstOut])
    func queuedDownloadsStartByPriorityThenInOrder(order: ImageDownloader.Order) async throws {
        let gate = StubGate()
        let stub = try held(by: gate, try plain())
        let downloader = ImageDownloader(agent: stub.agent, maxActive: 1, order: order)
        var tasks = [Task { try await downloader.image(url(0)) }]
        try await gate.waitForArrivals(1)
        for number in 1...4 {
            var request = url(number)
            request.priority = number == 1 ? .low : number == 3 ? .high : .normal
            tasks.append(Task { [request] in try await downloader.image(request) })
            await until { downloader.waitingCount == number }
        }
        gate.open()
        for task in tasks {
            _ = try await task.value
        }
        let expected = order == .firstInFirstOut ? ["/0", "/3", "/2", "/4", "/1"] : ["/0", "/3", "/4", "/2", "/1"]
        #expect(stub.requests.map(\.path) == expected)
    }

    @Test func raisedPriorityOfAQueuedDownloadIsSent() async throws {
        let gate = StubGate()
        let stub = try held(by: gate, try plain())
        let downloader = ImageDownloader(agent: stub.agent, maxActive: 1)
        let first = Task { try await downloader.image(url(0)) }
        try await gate.waitForArrivals(1)
        let (notifications, reporter) = AsyncStream<Void>.makeStream()
        for priority in [Priority.low, .high, .normal] {
            var request = url(1)
            request.priority = priority
            downloader.download(request) { _ in reporter.yield() }
        }
        gate.open()
        _ = try await first.value
        for await _ in notifications.prefix(3) {}
        #expect(stub.requests.map(\.request.priority) == [.normal, .high])
    }

    @Test func alreadyCancelledTaskStartsNoTransfer() async throws {
        /// A cache that is always empty. The downloader reads it at the lookup and again before a transfer starts.
        struct Empty: ImageCache {
            let lookups = Lock(0)
            func image(for key: ImageKey) -> Image? {
                lookups.withLock { $0 += 1 }
                return nil
            }
            func insert(_ image: Image, for key: ImageKey) {}
            func remove(_ key: ImageKey) -> Bool { false }
            func removeAll() -> Bool { false }
        }
        let (cache, stub) = (Empty(), try StubTransport(image: try plain()))
        let downloader = ImageDownloader(agent: stub.agent, cache: cache)
        let task = Task {
            try? await StubGate().waitForArrivals(1)  // Only cancellation ends it.
            return try await downloader.image(url(1))
        }
        task.cancel()
        #expect(try await failure { try await task.value }.code == .cancelled)
        #expect(cache.lookups.withLock { $0 } == 1)
        #expect(downloader.activeCount == 0 && stub.requests.isEmpty)
    }

    @Test func waitersAreNotifiedInOrderOnTheMainActor() async throws {
        let gate = StubGate()
        let downloader = ImageDownloader(agent: try held(by: gate, try plain()).agent)
        let (notifications, reporter) = AsyncStream<Int>.makeStream()
        for number in 0..<20 {
            downloader.download(url(1)) { _ in
                MainActor.assertIsolated()
                reporter.yield(number)
            }
        }
        gate.open()
        var order: [Int] = []
        for await number in notifications.prefix(20) {
            order.append(number)
        }
        #expect(order == Array(0..<20))
    }

    @Test func cacheCanRejectAnImage() async throws {
        struct Picky: ImageCache {
            func image(for key: ImageKey) -> Image? { nil }
            func insert(_ image: Image, for key: ImageKey) { Issue.record("it refused the image") }
            func remove(_ key: ImageKey) -> Bool { false }
            func removeAll() -> Bool { false }
            func shouldCache(_ image: Image, for request: ImageRequest) -> Bool { false }
        }
        let stub = try StubTransport(image: try plain())
        let downloader = ImageDownloader(agent: stub.agent, cache: Picky())
        _ = try await downloader.image(url(1))
        _ = try await downloader.image(url(1))
        #expect(stub.requests.count == 2)
    }

    @Test func tenThousandRequestsForAHundredImagesMakeAHundredTransfers() async throws {
        struct Counts: Sendable {
            var now = 0
            var highest = 0
        }
        let counts = Lock(Counts())
        let png = try plain(8, 8).png()
        let stub = StubTransport { _ in
            counts.withLock { counts in
                counts.now += 1
                counts.highest = max(counts.highest, counts.now)
            }
            for _ in 0..<8 {
                await Task.yield()
            }
            counts.withLock { $0.now -= 1 }
            return .bytes(png, contentType: "image/png")
        }
        let cache = AutoPurgingImageCache(memoryCapacity: 100 * 256, preferredUsageAfterPurge: 50 * 256)
        let downloader = ImageDownloader(agent: stub.agent, cache: cache)
        let isWithinLimits = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<10_000 {
                group.addTask {
                    let loaded = try? await downloader.image(url(number % 100))
                    return loaded != nil && cache.memoryUsage <= 100 * 256 && downloader.activeCount <= 4
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(isWithinLimits)
        #expect(stub.requests.count == 100)
        #expect(counts.withLock { $0.highest } <= 4)
        #expect(cache.memoryUsage == 100 * 256)
    }

    @Test func prefetchLoadsEachURLOnce() async throws {
        let stub = try StubTransport(image: try plain())
        stub.register("/404", with: .status(404))
        let downloader = ImageDownloader(agent: stub.agent)
        let requests = [url(1), url(2), url(1), ImageRequest("http://stub/404")]
        let progress = await downloader.prefetch(requests).finish()
        #expect(progress.total == 3 && progress.loaded == 2 && progress.failed == 1)
        #expect(try await downloader.image(url(2)).isFromCache)
        #expect(stub.requests.count == 3)
    }

    @Test func cancellingAPrefetchLeavesOthersRunning() async throws {
        let gate = StubGate()
        let downloader = ImageDownloader(agent: try held(by: gate, try plain()).agent, maxActive: 1)
        let prefetch = downloader.prefetch((0..<5).map { ImageRequest("http://stub/\($0)") })
        try await gate.waitForArrivals(1)
        let lastImage = Task { try await downloader.image(ImageRequest("http://stub/9")) }
        prefetch.cancel()
        let progress = await prefetch.finish()
        #expect(progress.failed == 5)
        gate.open()
        #expect(try await lastImage.value.image.width == 2)
    }

    @Test func nanScaleFails() async throws {
        let downloader = ImageDownloader(agent: try StubTransport(image: try plain(3, 3)).agent)
        var request = url(1)
        request.options.scale = .nan
        for _ in 0..<2 {
            let error = await #expect(throws: NetError.self) { try await downloader.image(request) }
            #expect(error?.code == .usage)
        }
        #expect(ImageKey(request) == ImageKey(request))
    }
}
#endif
