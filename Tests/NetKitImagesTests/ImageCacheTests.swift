#if Images
import NetKit
import NetKitImages
import Testing

#if canImport(Glibc)
import Glibc
#endif

struct ImageCacheTests {
    private func key(_ name: String) -> ImageKey { ImageKey(name: name) }

    @Test func defaultCapacitiesMatchAFNetworking() {
        let cache = AutoPurgingImageCache()
        #expect(cache.memoryCapacity == 100 << 20 && cache.preferredUsageAfterPurge == 60 << 20)
    }

    @Test func imageCostIsItsPixelSize() throws {
        let cache = AutoPurgingImageCache()
        cache.insert(try plain(10, 20), for: key("a"))
        #expect(cache.memoryUsage == 800)
        cache.insert(try plain(1, 1), for: key("a"))
        #expect(cache.memoryUsage == 4 && cache.count == 1)
    }

    @Test func leastRecentlyUsedImageIsEvictedFirst() throws {
        // Each image costs 400 bytes.
        let cache = AutoPurgingImageCache(memoryCapacity: 1600, preferredUsageAfterPurge: 800)
        for name in ["a", "b", "c", "d"] {
            cache.insert(try plain(10, 10), for: key(name))
        }
        #expect(cache.memoryUsage == 1600)
        #expect(cache.image(for: key("a")) != nil)
        cache.insert(try plain(10, 10), for: key("e"))
        #expect(cache.memoryUsage == 800)
        #expect(["a", "b", "c", "d", "e"].filter { cache.image(for: key($0)) != nil } == ["a", "e"])
    }

    @Test func oversizedImageIsNotCached() throws {
        let cache = AutoPurgingImageCache(memoryCapacity: 400, preferredUsageAfterPurge: 400)
        cache.insert(try plain(10, 10), for: key("a"))
        cache.insert(try plain(11, 10), for: key("b"))
        #expect(cache.image(for: key("a")) != nil && cache.image(for: key("b")) == nil)
        // An image that is too large still removes the earlier image of its key.
        cache.insert(try plain(11, 10), for: key("a"))
        #expect(cache.image(for: key("a")) == nil && cache.memoryUsage == 0)
    }

    @Test func removeReturnsWhetherAnImageWasCached() throws {
        let cache = AutoPurgingImageCache()
        cache.insert(try plain(), for: key("a"))
        cache.insert(try plain(), for: key("b"))
        #expect(cache.remove(key("a")) && !cache.remove(key("a")))
        #expect(cache.removeAll() && !cache.removeAll())
        #expect(cache.memoryUsage == 0 && cache.image(for: key("b")) == nil)
    }

    @Test func keysOfDifferentRequestsDiffer() {
        func request(_ url: String, _ change: (inout ImageRequest) -> Void = { _ in }) -> ImageKey {
            var request = ImageRequest(url)
            change(&request)
            return ImageKey(request)
        }
        // If the key were a concatenation, these two would be equal (AFNetworking's fault A27).
        #expect(request("http://h/a") { $0.variant = "b" } != request("http://h/ab"))
        #expect(request("http://h/a") { $0.variant = "b" } != request("http://h/") { $0.variant = "ab" })
        #expect(ImageKey(name: "http://h/a") != request("http://h/a"))
        #expect(request("http://h/a") { $0.variant = "" } != request("http://h/a"))
        // `String` treats the two as equal. To a server they are different file names.
        let (composed, decomposed) = ("\u{e9}", "e\u{301}")
        #expect(request("http://h/\(composed)") != request("http://h/\(decomposed)"))
        #expect(request("u") { $0.headers["X"] = composed } != request("u") { $0.headers["X"] = decomposed })
        #expect(request("u") { $0.variant = composed } != request("u") { $0.variant = decomposed })
        #expect(ImageKey(name: composed) != ImageKey(name: decomposed))
        #expect(request("http://h/a") { $0.headers["X"] = "1" } != request("http://h/a"))
        #expect(request("http://h/a") { $0.options.fit = .init(width: 1, height: 1) } != request("http://h/a"))
        #expect(request("http://h/a") { $0.options.scale = 2 } != request("http://h/a"))
        let one = request("u") { $0.headers = ["A": "1", "b": "2"] }
        let other = request("u") { $0.headers = ["B": "2", "a": "1"] }
        #expect(one == other)
        #expect(
            request("u") { $0.headers = ["A": "1", "a": "2"] } != request("u") { $0.headers = ["A": "2", "a": "1"] })
    }

    @Test func concurrentInsertsStayWithinTheLimit() async throws {
        let cache = AutoPurgingImageCache(memoryCapacity: 4000, preferredUsageAfterPurge: 2000)
        let image = try plain(10, 10)
        let isWithinLimit = await withTaskGroup(of: Bool.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var holds = true
                    for round in 0..<2000 {
                        let key = ImageKey(name: "\((round * 7 + task) % 23)")
                        if cache.image(for: key) == nil {
                            cache.insert(image, for: key)
                        }
                        holds = holds && cache.memoryUsage <= 4000
                    }
                    return holds
                }
            }
            return await group.reduce(true) { $0 && $1 }
        }
        #expect(isWithinLimit)
    }

    #if canImport(Glibc)
    @Test func memoryPressureArrivesAsUrgentData() async throws {
        // epoll reports urgent data of a socket with the same event as the kernel's memory pressure.
        let (near, far) = try UrgentSockets.pair()
        defer { close(far) }
        let (notifications, continuation) = AsyncStream<Void>.makeStream()
        let watch = try MemoryPressure(takingOwnershipOf: near) { continuation.yield() }
        UrgentSockets.sendUrgentByte(far)
        var iterator = notifications.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        withExtendedLifetime(watch) {}
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(3), .seconds(Int64.max), .seconds(Int64.min)])
    func outOfRangeStallIsRejected(stall: Duration) {
        let error = #expect(throws: NetError.self) { try MemoryPressure(stall: stall) {} }
        #expect(error?.code == .usage)
    }

    @Test func systemAcceptsAPressureTriggerOrReportsAnError() throws {
        do throws(NetError) {
            _ = try MemoryPressure {}
        } catch {
            #expect(error.code == .unsupported)
            #expect(error.nativeCode != 0)
        }
        #expect(throws: NetError.self) { try MemoryPressure(path: "/nowhere/memory.pressure") {} }
        #expect(throws: NetError.self) { try AutoPurgingImageCache().emptyUnderMemoryPressure(stall: .seconds(3)) }
    }
    #endif
}
#endif
