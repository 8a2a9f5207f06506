import NetKit
import NetKitTesting
import Testing

/// The features of AFNetworking's reachability manager, and those that it lacks.
struct ReachabilityTests {
    private let path = StubPath(.notReachable)

    /// Records the states in the order of notification.
    private final class Diary: ReachabilityObserver {
        let told = Lock<[PathState.Status]>([])
        var statuses: [PathState.Status] { told.withLock { $0 } }

        func note(_ state: PathState) {
            told.withLock { $0.append(state.status) }
        }

        func reachability(_ reachability: Reachability, changedTo state: PathState) {
            note(state)
        }
    }

    @Test func theStateIsKnownAtOnce() {
        let reachability = Reachability(path)
        #expect(reachability.status == .notReachable)
        #expect(!reachability.isReachable && reachability.failure == nil)
        path.set(.viaCellular)
        #expect(reachability.isReachable && reachability.isReachableViaCellular)
        #expect(!reachability.isReachableViaWiFiOrWired)
        path.set(.viaWiFiOrWired)
        #expect(reachability.isReachable && reachability.isReachableViaWiFiOrWired)
        path.set(.unknown)
        #expect(!reachability.isReachable)
    }

    @Test func statusesHaveTheNumbersAndWordsThatAFNetworkingsHave() {
        #expect(PathState.Status.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        #expect(
            PathState.Status.allCases.map(\.description)
                == ["unknown", "not reachable", "via cellular", "via Wi-Fi or wired"])
    }

    @Test func aClosureHearsTheStateAndThenEveryChangeOnce() {
        let diary = Diary()
        let reachability = Reachability(path)
        let watch = reachability.watch { diary.note($0) }
        #expect(diary.statuses == [.notReachable])
        for status in [PathState.Status.notReachable, .viaCellular, .viaCellular, .viaWiFiOrWired, .notReachable] {
            path.set(status)
        }
        #expect(diary.statuses == [.notReachable, .viaCellular, .viaWiFiOrWired, .notReachable])
        watch.cancel()
        path.set(.viaCellular)
        #expect(diary.statuses.count == 4)
    }

    @Test func aWatchThatIsLetGoEnds() {
        let diary = Diary()
        let reachability = Reachability(path)
        do {
            let watch = reachability.watch { diary.note($0) }
            path.set(.viaCellular)
            withExtendedLifetime(watch) {}
        }
        path.set(.viaWiFiOrWired)
        #expect(diary.statuses == [.notReachable, .viaCellular])
    }

    @Test func aSequenceGivesTheStateAndThenEveryChange() async {
        let reachability = Reachability(path)
        var iterator = reachability.makeAsyncIterator()
        path.set(.viaCellular)
        path.set(.viaCellular)
        path.set(PathState(.viaCellular, interface: "wwan1"))
        path.set(.viaWiFiOrWired)
        #expect(await iterator.next()?.status == .notReachable)
        #expect(await iterator.next()?.interface == "")
        #expect(await iterator.next()?.interface == "wwan1")
        #expect(await iterator.next()?.status == .viaWiFiOrWired)
    }

    @Test func severalReadersGetEverythingEach() async {
        let reachability = Reachability(path)
        var readers = [reachability.makeAsyncIterator(), reachability.makeAsyncIterator()]
        path.set(.viaCellular)
        readers.append(reachability.makeAsyncIterator())
        path.set(.viaWiFiOrWired)
        for (index, reader) in readers.enumerated() {
            var reader = reader
            var statuses: [PathState.Status?] = []
            for _ in 0..<(index == 2 ? 2 : 3) {
                statuses.append(await reader.next()?.status)
            }
            #expect(statuses == Array([.notReachable, .viaCellular, .viaWiFiOrWired].suffix(statuses.count)))
        }
    }

    @Test func aSequenceEndsWithItsTask() async {
        let reachability = Reachability(path)
        let (started, begin) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            var count = 0
            for await _ in reachability {
                count += 1
                begin.finish()
            }
            return count
        }
        for await _ in started {}
        reading.cancel()
        #expect(await reading.value == 1)
    }

    @Test func anObserverIsToldAndNotKept() {
        let reachability = Reachability(path)
        weak var gone: Diary?
        do {
            let diary = Diary()
            gone = diary
            reachability.add(diary)
            reachability.add(diary)  // a second time, as the same observer
            path.set(.viaCellular)
            #expect(diary.statuses == [.notReachable, .notReachable, .viaCellular])
            reachability.remove(diary)
            path.set(.notReachable)
            #expect(diary.statuses.count == 3)
            reachability.add(diary)
        }
        #expect(gone == nil)
        path.set(.viaCellular)
    }

    @Test func changesAreDeliveredWhereTheyAreWanted() async {
        let reachability = Reachability(path)
        let (stream, continuation) = AsyncStream.makeStream(of: PathState.Status.self)
        let watch = reachability.watch(on: .main) { state in
            MainActor.assertIsolated()
            continuation.yield(state.status)
        }
        path.set(.viaCellular)
        path.set(.viaWiFiOrWired)
        var told: [PathState.Status] = []
        for await status in stream {
            told.append(status)
            if status == .viaWiFiOrWired {
                break
            }
        }
        #expect(told.last == .viaWiFiOrWired && told.count <= 3)
        watch.cancel()
    }

    @Test func nothingIsWatchedForNobody() {
        do {
            let reachability = Reachability(path)
            #expect(!path.isStopped)
            withExtendedLifetime(reachability) {}
        }
        #expect(path.isStopped)
    }

    @Test func aHandlerMayChangeAndLookAtWhatItIsToldOf() {
        let reachability = Reachability(path)
        let diary = Diary()
        let watch = reachability.watch { [path, weak reachability] state in
            diary.note(state)
            if state.status == .viaCellular {
                path.set(.viaWiFiOrWired)
                #expect(reachability?.status == .viaWiFiOrWired)
            }
        }
        path.set(.viaCellular)
        #expect(diary.statuses == [.notReachable, .viaCellular, .viaWiFiOrWired])
        watch.cancel()
    }

    @Test func statesFromManyThreadsComeToAllInOneOrder() async {
        let reachability = Reachability(path)
        let diaries = [Diary(), Diary()]
        let watches = diaries.map { diary in reachability.watch { diary.note($0) } }
        await withTaskGroup { group in
            for task in 0..<4 {
                group.addTask { [path] in
                    for turn in 0..<200 {
                        path.set(turn % 2 == task % 2 ? .viaCellular : .notReachable)
                    }
                }
            }
        }
        path.set(.viaWiFiOrWired)
        #expect(diaries[0].statuses == diaries[1].statuses)
        #expect(diaries[0].statuses.last == .viaWiFiOrWired)
        #expect(zip(diaries[0].statuses, diaries[0].statuses.dropFirst()).allSatisfy { $0 != $1 })
        withExtendedLifetime(watches) {}
    }

    @Test func waitingEndsWithTheWayOrTheTask() async throws {
        let reachability = Reachability(path)
        let waiting = Task { try await reachability.waitUntilReachable() }
        path.set(.viaCellular)
        try await waiting.value
        path.set(.notReachable)
        let cancelled = Task { try await reachability.waitUntilReachable() }
        cancelled.cancel()
        await #expect(throws: NetError.self) { try await cancelled.value }
    }

    // MARK: The system

    @Test func theSystemTellsAtOnceAndForOneHost() async {
        let reachability = Reachability()
        #expect(reachability.failure == nil && reachability.status != .unknown)
        #expect(await reachability.state(of: "127.0.0.1").kind == .loopback)
        #expect(Reachability(host: "127.0.0.1").state.kind == .loopback)
        #expect(Reachability(host: "[::ffff:127.0.0.1]").status != .unknown)
    }

    @Test func aHostThatIsNoneIsUnknown() async {
        let long = String(repeating: "a", count: 300)
        let reachability = Reachability(host: long)
        #expect(reachability.status == .unknown)
        #expect(reachability.failure?.code == .usage)
        #expect(await Reachability(path).state(of: long).status == .notReachable)
    }

    @Test func oneCanBeLetGoInItsOwnCallback() async {
        for _ in 0..<50 {
            let kept = Lock<Reachability?>(Reachability())
            let watch = kept.withLock { $0 }?.watch { _ in
                let dropped = kept.withLock { kept in
                    defer { kept = nil }
                    return kept
                }
                withExtendedLifetime(dropped) {}
            }
            #expect(kept.withLock { $0 == nil })
            watch?.cancel()
        }
    }
}
