import NetKit
import NetKitTesting
import Testing

/// YTKNetwork's cache, row by row.
@Suite(.timeLimit(.minutes(5)))
struct CachingTests {
    private let fixture = CacheFixture()
    private let shape: JSONShape = ["a": .integer]
    private let request = Request<String>("/", parameters: nil)

    private func send(_ rules: CacheRules, _ change: (inout Request<String>) -> Void = { _ in }) async throws
        -> Response<String>
    {
        var request = request.cached(rules)
        change(&request)
        return try await fixture.agent.send(request)
    }

    @Test func storedResponseIsReturnedUntilItExpires() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        let first = try await send(.app(5))
        #expect(first.value == "1" && first.source != .cache)
        #expect(first.cache?.decision == .fetch(.absent) && first.cache?.outcome == .network)
        fixture.pass(5)
        let second = try await send(.app(5))
        #expect(second.value == "1" && second.source == .cache && second.url == first.url)
        #expect(second.cache?.decision == .use(.fresh) && second.cache?.isHit == true)
        #expect(second.cache?.age == .seconds(5) && second.cache?.lifetime == .seconds(5))
        fixture.time.advance(by: .milliseconds(1))
        let third = try await send(.app(5))
        #expect(third.value == "2" && third.cache?.decision == .fetch(.expired))
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func backwardClockExpiresAResponse() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await send(.app(5000))
        fixture.pass(-1)
        #expect(try await send(.app(5000)).cache?.decision == .fetch(.expired))
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func reloadStoresTheNewResponse() async throws {
        let fixture = CacheFixture(.app(5000))
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await fixture.agent.send(request)
        let fresh = try await fixture.agent.send(request.cached(.reload))
        #expect(fresh.value == "2" && fresh.cache?.reason == .ignored)
        #expect(try await fixture.agent.send(request).value == "2")
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func negativeLifetimeDisablesTheCacheAndZeroStoresNothing() async throws {
        fixture.stub.register("/", with: .text("1"))
        _ = try await send(.app(0))
        #expect(try await fixture.store.usage().entries == 0)
        _ = try await send(.app(5000))
        #expect(try await send(.app(0)).cache?.decision == .use(.fresh))
        fixture.time.advance(by: .milliseconds(1))
        #expect(try await send(.app(0)).cache?.decision == .fetch(.expired))
        let negative = try await send(.app(-1))
        #expect(negative.cache?.decision == .fetch(.invalidTime) && negative.cache?.isStorable == false)
    }

    @Test func entryOfAnotherVersionIsReplaced() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"), .text("3"))
        _ = try await send(.app(5000) { $0.version = .max })
        #expect(try await send(.app(5000) { $0.version = .max }).source == .cache)
        #expect(try await send(.app(5000)).cache?.decision == .fetch(.versionMismatch))
        #expect(try await send(.app(5000) { $0.version = .max }).value == "3")
    }

    @Test func entryWithDifferentSensitiveDataIsNotUsed() async throws {
        fixture.stub.register("/", with: (1...9).map { .text("\($0)") })
        let secret = { (text: String?) in CacheRules.app(5000) { $0.sensitiveData = text } }
        _ = try await send(secret("alice"))
        #expect(try await send(secret("alice")).value == "1")
        #expect(try await send(secret("bob")).cache?.decision == .fetch(.sensitiveDataMismatch))
        #expect(try await send(secret(nil)).cache?.decision == .fetch(.sensitiveDataMismatch))
        #expect(try await send(secret("")).cache?.decision == .fetch(.sensitiveDataMismatch))
        #expect(try await send(secret("")).source == .cache)
    }

    @Test func entryOfAnotherAppVersionIsNotUsed() async throws {
        let store = MemoryCacheStore()
        for (version, isHit) in [("1.0", false), ("1.0", true), ("1.1", false), ("1.1", true)] {
            let fixture = CacheFixture(.app(5000), store: store) { $0.appVersion = version }
            fixture.stub.register("/", with: .text(version))
            let response = try await fixture.agent.send(request)
            #expect(response.value == version && response.cache?.isHit == isHit)
            #expect(isHit || [.absent, .appVersionMismatch].contains(response.cache?.reason))
        }
    }

    @Test func storedResponseThatFailsTheExpectationIsFetchedAgain() async throws {
        fixture.stub.register("/", with: .json("[1]"), .json(#"{"a": 1}"#))
        let rules = CacheRules.app(5000)
        _ = try await fixture.agent.send(Request<Bytes>("/").cached(rules))
        let wanted = Request<Bytes>("/").cached(rules).expecting(shape)
        let response = try await fixture.agent.send(wanted)
        #expect(response.cache?.decision == .fetch(.invalidData))
        #expect(try await fixture.agent.send(wanted).cache?.isHit == true)
    }

    @Test func unreadableMetadataIsAMiss() async throws {
        fixture.stub.register("/", with: .text("1"))
        _ = try await send(.app(5000))
        for line in try await fixture.store.list() {
            try await fixture.store.put(CacheEntry(body: [1], metadata: [1, 2, 3]), for: line.key)
        }
        #expect(try await send(.app(5000)).cache?.decision == .fetch(.invalidMetadata))
        #expect(try await send(.app(5000)).cache?.isHit == true)
    }

    @Test func onlyAcceptedResponsesAreStoredAndAFailureKeepsTheOldEntry() async throws {
        fixture.stub.register("/", with: .json("[1]"))
        let numbers = Request<[Int]>("/").cached(.app(5000))
        let again = Request<[Int]>("/").cached(.app(5000) { $0.ignoresStored = true })
        _ = try await fixture.agent.send(numbers)
        for reply in [StubReply.status(500), .json("{}"), .text("x"), .failure(.reset), .json("[")] {
            fixture.stub.register("/", with: reply)
            await #expect(throws: NetError.self) { try await fixture.agent.send(again) }
        }
        #expect(try await fixture.agent.send(numbers).value == [1])
        #expect(try await fixture.agent.send(numbers).source == .cache)
    }

    @Test func errorStatusIsNotStoredEvenIfTheCallerAcceptsIt() async throws {
        fixture.stub.register("/", with: .status(404))
        #expect(try await fixture.agent.send(Request<Bytes>("/").cached(.app(5000))).cache?.isStorable == false)
        #expect(try await fixture.store.usage().entries == 0)
    }

    @Test func storedBodyEqualsTheReceivedBytes() async throws {
        let body = Bytes((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        fixture.stub.register(
            "/", with: StubReply(status: 203, headers: ["A": "1", "a": "2", "B": ""], body: [.bytes(body)]))
        let wanted = Request<Bytes>("/").cached(.app(5000))
        let first = try await fixture.agent.send(wanted)
        let second = try await fixture.agent.send(wanted)
        #expect(second.source == .cache && second.bytes == body && second.status == 203)
        #expect(second.headers == first.headers && second.httpVersion == first.httpVersion)
    }

    @Test func anyMethodIsStoredUnderItsBodyAndItsParameters() async throws {
        fixture.stub.register("/", with: (1...9).map { .text("\($0)") })
        func post(_ body: String) -> Request<String> {
            Request<String>("/", method: .post, body: .text(body)).cached(.app(5000))
        }
        #expect(try await fixture.agent.send(post("a")).value == "1")
        #expect(try await fixture.agent.send(post("b")).value == "2")
        #expect(try await fixture.agent.send(post("a")).value == "1")
        // Rules for all requests apply only to safe methods.
        let other = CacheFixture(.app(5000))
        other.stub.register("/", with: .text("1"), .text("2"))
        for value in ["1", "2"] {
            let response = try await other.agent.send(Request<String>("/", method: .post))
            #expect(response.value == value && response.cache == nil)
        }
    }

    @Test func cacheKeyCoversTheWholeRequest() async throws {
        fixture.stub.register("*", with: (1...20).map { .text("\($0)") })
        let requests = [
            Request<String>("/a"), Request("/a", parameters: ["n": 1]), Request("/a", parameters: ["n": 2]),
            Request("/b"), Request("http://other/a"), Request("/a", headers: ["Accept-Language": "de"]),
            Request("/a", method: .head),
        ]
        for round in 0..<2 {
            for (index, request) in requests.enumerated() where index < 6 {
                let response = try await fixture.agent.send(request.cached(.app(5000)))
                #expect(response.value == "\(index + 1)", "\(round)")
            }
        }
        // A field that selects no variant is not part of the key.
        let traced = Request<String>("/a", headers: ["X-Trace": "7"]).cached(.app(5000))
        #expect(try await fixture.agent.send(traced).value == "1")
    }

    @Test func readOnlyRequestStoresNothing() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        #expect(try await send(.app(5000) { $0.isReadOnly = true }).cache?.isStorable == false)
        #expect(try await fixture.store.usage().entries == 0)
        _ = try await send(.app(5000))
        #expect(try await send(.app(5000) { $0.isReadOnly = true }).value == "2")
    }

    @Test func appConditionDeterminesWhatIsStored() async throws {
        fixture.stub.register("/", with: .text("no"), .text("yes"), .text("later"))
        let rules = CacheRules.app(5000) { $0.storing = .acceptedWhere { $0.bytes.text == "yes" } }
        #expect(try await send(rules).value == "no")
        #expect(try await send(rules).value == "yes")
        #expect(try await send(rules).source == .cache)
    }

    @Test func responseCanBeStoredAfterTheCall() async throws {
        fixture.stub.register("/", with: .text("1"), .text("2"))
        _ = try await send(.app(5000) { $0.writesAsynchronously = true })
        await fixture.caching.finish()
        #expect(try await send(.app(5000)).source == .cache)
    }

    @Test func streamIsStoredOnceReadToItsEnd() async throws {
        let steps: [StubReply.Step] = [.text("a"), .text("b")]
        fixture.stub.register("/", with: StubReply(body: steps))
        let wanted = Request<Bytes>("/").cached(.app(5000))
        do {
            let stream = try await fixture.agent.stream(wanted)
            #expect(stream.cache?.isStorable == true)
            for try await _ in stream { break }
        }
        #expect(try await fixture.store.usage().entries == 0)
        fixture.stub.register("/", with: StubReply(body: steps + [.fail(NetError(.cutShort, "cut"))]))
        await #expect(throws: NetError.self) { try await fixture.agent.stream(wanted).collect(upTo: 10) }
        #expect(try await fixture.store.usage().entries == 0)
        fixture.stub.register("/", with: StubReply(body: steps))
        #expect(try await fixture.agent.stream(wanted).collect(upTo: 10).text == "ab")
        let stored = try await fixture.agent.stream(wanted)
        #expect(stored.cache?.isHit == true)
        #expect(try await stored.collect(upTo: 10).text == "ab")
        #expect(try await fixture.agent.send(wanted).source == .cache)
    }

    @Test func cookieOfANotModifiedResponseIsNotStored() async throws {
        let fields: Headers = ["ETag": "\"a\"", "Set-Cookie": "session=1"]
        fixture.stub.register(
            "/", with: StubReply(headers: fields, body: [.text("1")]), StubReply(status: 304, headers: fields))
        _ = try await send(.app(5))
        fixture.pass(6)
        #expect(try await send(.app(5)).cache?.outcome == .revalidated)
        let stored = try await send(.app(5))
        #expect(stored.cache?.isHit == true && stored.headers["Set-Cookie"] == nil)
    }

    @Test func oversizedStreamIsDeliveredButNotStored() async throws {
        fixture.stub.register("/", with: StubReply(body: [.text("abc"), .text("def")]))
        let wanted = Request<Bytes>("/").cached(.app(5000) { $0.maximumBodyBytes = 5 })
        #expect(try await fixture.agent.stream(wanted).collect(upTo: 10).text == "abcdef")
        #expect(try await fixture.store.usage().entries == 0)
    }

    @Test(arguments: [CacheRules.app(5000), .app(5), .server()])
    func bodyLimitAppliesToCachedResponses(rules: CacheRules) async throws {
        let fields: Headers = ["Cache-Control": "max-age=5000", "ETag": "\"a\""]
        fixture.stub.register("/", with: StubReply(headers: fields, body: [.text("abcdef")]), .status(304))
        var wanted = Request<Bytes>("/").cached(rules)
        _ = try await fixture.agent.send(wanted)
        fixture.pass(6)
        wanted.limits = Limits()
        wanted.limits.maxBodyBytes = 5
        #expect(await ending(of: wanted, from: fixture.agent) == .failed(.bodyTooLarge))
        wanted.limits.maxBodyBytes = 6
        #expect(try await fixture.agent.send(wanted).bytes.text == "abcdef")
    }

    @Test func savesRangesAndOneShotBodiesBypassTheCache() async throws {
        let folder = try TemporaryFolder()
        fixture.stub.register("/", with: .text("x"))
        _ = try await fixture.agent.download(
            Request<Bytes>("/").cached(.app(5000)), to: folder.file("f"), options: .init(isResumable: false))
        _ = try await fixture.agent.send(Request<Bytes>("/", headers: ["Range": "bytes=0-1"]).cached(.app(5000)))
        let once = Request<Bytes>("/", method: .put, body: .once(Pieces([Bytes([1])]))).cached(.app(5000))
        #expect(try await fixture.agent.send(once).cache == nil)
        #expect(try await fixture.store.usage().entries == 0)
    }

    @Test func saveUsesTheNetworkAndFailsIfCacheOnly() async throws {
        let folder = try TemporaryFolder()
        for rules in [CacheRules.app(50, .cacheOnly), .server(.cacheOnly)] {
            let fixture = CacheFixture(.app(5000))
            fixture.stub.register("/", with: .text("new"))
            let file = Request<Bytes>("/").cached(rules)
            let refused = await #expect(throws: NetError.self) {
                _ = try await fixture.agent.download(file, to: folder.file("f"), options: .init(isResumable: false))
            }
            #expect(refused?.code == .notCached)
            let stopped = await #expect(throws: NetError.self) {
                _ = try await fixture.agent.download(file, to: folder.file("f"))
            }
            #expect(stopped?.code == .notCached)
            #expect(fixture.stub.requests.isEmpty && folder.names.isEmpty)
        }
    }

    @Test func failingStoreIsTreatedAsEmptyAndReported() async throws {
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: "/dev/null/nowhere"))
        fixture.stub.register("/", with: .text("1"))
        for _ in 0..<2 {
            #expect(try await fixture.agent.send(request).value == "1")
        }
        #expect(fixture.names.count { $0.hasPrefix("not stored") } == 2)
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func cacheHitIsObservedValidatedAndDecodedLikeANetworkResponse() async throws {
        fixture.stub.register("/", with: .json("[1, 2]"))
        let numbers = Request<[Int]>("/").cached(.app(5000))
        _ = try await fixture.agent.send(numbers)
        #expect(
            fixture.names == [
                "started", "exchange 1", "answered 200", "cache fetch (absent)", "stopping 200", "stopped",
            ])
        #expect(try await fixture.agent.send(numbers).value == [1, 2])
        #expect(fixture.names.dropFirst(6) == ["started", "cache use (fresh)", "stopping 200", "stopped"])
        var strict = numbers
        strict.acceptedStatuses = 201..<202
        #expect(await ending(of: strict, from: fixture.agent) == .failed(.status))
    }

    @Test func cachedBodyIsNotReadOnTheCallersThread() async throws {
        let folder = try TemporaryTree()
        let fixture = CacheFixture(.app(5000), store: DiskCacheStore(directory: folder.file("c")))
        fixture.stub.register("/", with: .text("1"))
        _ = try await fixture.agent.send(request)
        #expect(try await fixture.agent.send(request).source == .cache)
        // A second agent simulates a second process.
        let next = CacheFixture(.app(5000), store: DiskCacheStore(directory: folder.file("c")))
        #expect(try await next.agent.send(request).value == "1")
        #expect(next.stub.requests.isEmpty)
    }
}
