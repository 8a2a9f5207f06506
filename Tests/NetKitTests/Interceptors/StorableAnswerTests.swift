import NetKit
import NetKitTesting
import Testing

/// Changes of a hook to a response before it is stored.
@Suite(.timeLimit(.minutes(5)))
struct StorableAnswerTests {
    private func scene(
        _ hook: @escaping @Sendable (StorableAnswer) async throws -> StorableAnswer?
    ) -> CacheScene {
        CacheScene(.app(300)) { $0.transferHooks.willStore = hook }
    }

    @Test func aHookMayKeepAnAnswerOutOfTheCache() async throws {
        let scene = scene { _ in nil }
        scene.stub.answer("/", with: .text("a"), .text("b"))
        #expect(try await scene.agent.send(Request<String>("/")).value == "a")
        #expect(try await scene.agent.send(Request<String>("/")).value == "b")
        #expect(scene.names.contains("not stored stoppedByCaller"))
        #expect(try await scene.store.list().isEmpty)
    }

    @Test func aHookMayStoreAnotherBodyAndOtherFields() async throws {
        let scene = scene { answer in
            var answer = answer
            answer.bytes = Bytes(Array((answer.bytes.text + " stored").utf8))
            answer.headers["X-Stored"] = "\(answer.status) \(answer.url.hasSuffix("/"))"
            return answer
        }
        scene.stub.answer("/", with: .text("a"))
        #expect(try await scene.agent.send(Request<String>("/")).value == "a")
        let hit = try await scene.agent.send(Request<String>("/"))
        #expect(hit.value == "a stored" && hit.source == .cache)
        #expect(hit.headers["X-Stored"] == "200 true")
        #expect(scene.stub.requests.count == 1)
    }

    @Test func theRequestsHookComesFirstAndAFailureIsTold() async throws {
        struct Cause: Error {}
        let scene = scene { $0 }
        scene.stub.answer("/", with: .text("a"))
        var request = Request<String>("/")
        request.transferHooks.willStore = { _ in throw Cause() }
        _ = try await scene.agent.send(request)
        #expect(try await scene.store.list().isEmpty)
        _ = try await scene.agent.send(Request<String>("/"))
        #expect(try await scene.store.list().count == 1)
        let failures = scene.events.values.compactMap { event in
            if case .notStored(let error) = event.change { error } else { nil }
        }
        #expect(failures.count == 1 && failures.first?.underlying is Cause)
    }

    @Test func aStreamIsOfferedWhenItWasRead() async throws {
        let offered = Collected<Int>()
        let scene = scene { answer in
            offered.append(answer.bytes.count)
            return answer
        }
        scene.stub.answer("/", with: .text("abc"))
        let stream = try await scene.agent.stream(Request<Bytes>("/"))
        _ = try await stream.collect(upTo: 10)
        #expect(offered.values == [3])
    }
}
