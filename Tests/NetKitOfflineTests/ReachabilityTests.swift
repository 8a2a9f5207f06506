import NetKit
import NetKitCompat
import NetKitOffline
import NetKitTesting
import Testing

/// The features of AFNetworking's reachability manager, and those that it lacks.
struct ReachabilityTests {
    private let path = StubPath(.notReachable)

    /// Records the states in the order of notification.
    private final class Recorder: ReachabilityObserver {
        let received = Lock<[PathState.Status]>([])
        var statuses: [PathState.Status] { received.withLock { $0 } }

        func note(_ state: PathState) {
            received.withLock { $0.append(state.status) }
        }

        func reachability(_ reachability: Reachability, changedTo state: PathState) {
            note(state)
        }
    }

    @Test func statusIsAvailableImmediately() {
        let reachability = Reachability(path)
        #expect(reachability.state.status == .notReachable)
        #expect(!reachability.isReachable && reachability.failure == nil)
        path.set(.viaCellular)
        #expect(reachability.isReachable && reachability.isReachableViaCellular)
        #expect(!reachability.isReachableViaWiFiOrWired)
        path.set(.viaWiFiOrWired)
        #expect(reachability.isReachable && reachability.isReachableViaWiFiOrWired)
        path.set(.unknown)
        #expect(!reachability.isReachable)
    }

    @Test func statusesMatchAFNetworkingCodesAndNames() {
        #expect(PathState.Status.allCases.map(\.rawValue) == [-1, 0, 1, 2])
        #expect(
            PathState.Status.allCases.map(\.description)
                == ["unknown", "not reachable", "via cellular", "via Wi-Fi or wired"])
    }

    @Test func closureReceivesTheStatusAndThenEveryChangeOnce() {
        let recorder = Recorder()
        let reachability = Reachability(path)
        let watch = reachability.watch { recorder.note($0) }
        #expect(recorder.statuses == [.notReachable])
        for status in [PathState.Status.notReachable, .viaCellular, .viaCellular, .viaWiFiOrWired, .notReachable] {
            path.set(status)
        }
        #expect(recorder.statuses == [.notReachable, .viaCellular, .viaWiFiOrWired, .notReachable])
        watch.cancel()
        path.set(.viaCellular)
        #expect(recorder.statuses.count == 4)
    }

    /// Keeps an iterator, and returns a state for each call.
    private actor StateReader {
        private var iterator: Reachability.AsyncIterator

        init(_ reachability: Reachability) {
            iterator = reachability.makeAsyncIterator()
        }

        func next() async -> PathState.Status? {
            var iterator = iterator
            defer { self.iterator = iterator }
            return await iterator.next()?.status
        }
    }

    @Test func actorCanKeepAnIterator() async {
        let reader = StateReader(Reachability(path))
        #expect(await reader.next() == .notReachable)
        path.set(.viaCellular)
        #expect(await reader.next() == .viaCellular)
    }

    @Test func droppedSubscriptionEnds() {
        let recorder = Recorder()
        let reachability = Reachability(path)
        do {
            let watch = reachability.watch { recorder.note($0) }
            path.set(.viaCellular)
            withExtendedLifetime(watch) {}
        }
        path.set(.viaWiFiOrWired)
        #expect(recorder.statuses == [.notReachable, .viaCellular])
    }

    @Test func observerIsNotifiedAndNotRetained() {
        let reachability = Reachability(path)
        weak var weakRecorder: Recorder?
        let watch: ReachabilityWatch
        do {
            let recorder = Recorder()
            weakRecorder = recorder
            let first = reachability.watch(recorder)
            path.set(.viaCellular)
            #expect(recorder.statuses == [.notReachable, .viaCellular])
            first.cancel()
            path.set(.notReachable)
            #expect(recorder.statuses.count == 2)
            watch = reachability.watch(recorder)
        }
        #expect(weakRecorder == nil)
        path.set(.viaCellular)
        withExtendedLifetime(watch) {}
    }

    @Test func sequenceDeliversTheStatusAndThenEveryChange() async {
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

    @Test func eachSubscriberReceivesEverything() async {
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

    @Test func changesAreDeliveredOnTheRequestedExecutor() async {
        let reachability = Reachability(path)
        let (stream, continuation) = AsyncStream.makeStream(of: PathState.Status.self)
        let watch = reachability.watch(on: .main) { state in
            MainActor.assertIsolated()
            continuation.yield(state.status)
        }
        path.set(.viaCellular)
        path.set(.viaWiFiOrWired)
        var received: [PathState.Status] = []
        for await status in stream {
            received.append(status)
            if status == .viaWiFiOrWired {
                break
            }
        }
        #expect(received.last == .viaWiFiOrWired && received.count <= 3)
        watch.cancel()
    }

    @Test func monitorStopsWithoutSubscribers() {
        do {
            let reachability = Reachability(path)
            #expect(!path.isStopped)
            withExtendedLifetime(reachability) {}
        }
        #expect(path.isStopped)
    }

    @Test func handlerCanAccessReachability() {
        let reachability = Reachability(path)
        let recorder = Recorder()
        let watch = reachability.watch { [path, weak reachability] state in
            recorder.note(state)
            if state.status == .viaCellular {
                path.set(.viaWiFiOrWired)
                #expect(reachability?.state.status == .viaWiFiOrWired)
            }
        }
        path.set(.viaCellular)
        #expect(recorder.statuses == [.notReachable, .viaCellular, .viaWiFiOrWired])
        watch.cancel()
    }

    @Test func concurrentChangesReachAllSubscribersInOneOrder() async {
        let reachability = Reachability(path)
        let recorders = [Recorder(), Recorder()]
        let watches = recorders.map { recorder in reachability.watch { recorder.note($0) } }
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
        #expect(recorders[0].statuses == recorders[1].statuses)
        #expect(recorders[0].statuses.last == .viaWiFiOrWired)
        #expect(zip(recorders[0].statuses, recorders[0].statuses.dropFirst()).allSatisfy { $0 != $1 })
        withExtendedLifetime(watches) {}
    }

    @Test func waitEndsWithAPathOrTheTask() async throws {
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

    @Test func systemReportsThePathImmediatelyAndPerHost() async {
        let reachability = Reachability()
        #expect(reachability.failure == nil && reachability.state.status != .unknown)
        #expect(await reachability.state(of: "127.0.0.1").kind == .loopback)
        #expect(Reachability(host: "127.0.0.1").state.kind == .loopback)
        #expect(Reachability(host: "[::ffff:127.0.0.1]").state.status != .unknown)
    }

    @Test func invalidHostIsUnknown() async {
        let long = String(repeating: "a", count: 300)
        let reachability = Reachability(host: long)
        #expect(reachability.state.status == .unknown)
        #expect(reachability.failure?.code == .usage)
        #expect(await Reachability(path).state(of: long).status == .notReachable)
    }

    @Test func reachabilityCanBeDeallocatedInItsCallback() async {
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
