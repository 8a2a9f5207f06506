import NetKit
import NetKitTesting
import Testing

/// Changes of a hook to a response before it is stored.
@Suite(.timeLimit(.minutes(5)))
struct StorableResponseTests {
    private func fixture(
        _ hook: @escaping @Sendable (StorableResponse) async throws -> StorableResponse?
    ) -> CacheFixture {
        CacheFixture(.app(300)) { $0.interceptors.append(TransferHooks(willStore: hook)) }
    }

    @Test func hookCanExcludeAResponseFromTheCache() async throws {
        let fixture = fixture { _ in nil }
        fixture.stub.register("/", with: .text("a"), .text("b"))
        #expect(try await fixture.agent.send(Request<String>("/")).value == "a")
        #expect(try await fixture.agent.send(Request<String>("/")).value == "b")
        #expect(fixture.names.contains("not stored stoppedByCaller"))
        #expect(try await fixture.store.list().isEmpty)
    }

    @Test func hookCanReplaceTheStoredBodyAndFields() async throws {
        let fixture = fixture { answer in
            var answer = answer
            answer.bytes = Bytes(Array((answer.bytes.text + " stored").utf8))
            answer.headers["X-Stored"] = "\(answer.status) \(answer.url.hasSuffix("/"))"
            return answer
        }
        fixture.stub.register("/", with: .text("a"))
        #expect(try await fixture.agent.send(Request<String>("/")).value == "a")
        let hit = try await fixture.agent.send(Request<String>("/"))
        #expect(hit.value == "a stored" && hit.source == .cache)
        #expect(hit.headers["X-Stored"] == "200 true")
        #expect(fixture.stub.requests.count == 1)
    }

    @Test func requestHookRunsFirstAndItsFailureIsReported() async throws {
        struct Cause: Error {}
        let fixture = fixture { $0 }
        fixture.stub.register("/", with: .text("a"))
        var request = Request<String>("/")
        request.interceptors.append(TransferHooks(willStore: { _ in throw Cause() }))
        _ = try await fixture.agent.send(request)
        #expect(try await fixture.store.list().isEmpty)
        _ = try await fixture.agent.send(Request<String>("/"))
        #expect(try await fixture.store.list().count == 1)
        let failures = fixture.events.values.compactMap { event in
            if case .notStored(let error) = event.change { error } else { nil }
        }
        #expect(failures.count == 1 && failures.first?.underlying is Cause)
    }

    @Test func streamIsPassedToTheHookOnceRead() async throws {
        let offered = Collected<Int>()
        let fixture = fixture { answer in
            offered.append(answer.bytes.count)
            return answer
        }
        fixture.stub.register("/", with: .text("abc"))
        let stream = try await fixture.agent.stream(Request<Bytes>("/"))
        _ = try await stream.collect(upTo: 10)
        #expect(offered.values == [3])
    }
}
