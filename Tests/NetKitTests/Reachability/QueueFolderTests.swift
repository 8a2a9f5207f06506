import NetKit
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Whose a folder of kept requests is, and what else may lie in it.
@Suite(.timeLimit(.minutes(5)))
struct QueueFolderTests {
    private let stub = StubTransport()
    private let path = StubPath(.notReachable)
    private let reachability: Reachability
    private let folder: TemporaryFolder
    private let told = Collected<String>()

    init() throws {
        reachability = Reachability(path)
        folder = try TemporaryFolder()
        stub.answer("*", with: .text("done"))
    }

    private func queue() throws -> OfflineQueue {
        try OfflineQueue(folder: folder.path, reachability: reachability) { [told] outcome in
            switch outcome {
            case .answered(let kept, let response): told.append("\(kept.id) answered \(response.status)")
            case .failed(let kept, let error): told.append("\(kept.id) failed \(error.code)")
            case .expired(let kept): told.append("\(kept.id) expired")
            }
        }
    }

    private func agent(_ queue: OfflineQueue) -> Agent {
        var configuration = Agent.Configuration()
        configuration.interceptors = [queue]
        return Agent(configuration, transport: stub)
    }

    private func put(_ place: String) -> Request<Bytes> {
        Request<Bytes>("http://a.example\(place)", method: .put, body: .text("x"))
    }

    private func drain(_ queue: OfflineQueue, by agent: Agent, until count: Int) async {
        path.set(.viaWiFiOrWired)
        let draining = Task { await agent.drain(queue) }
        while told.values.count < count {
            await Task.yield()
        }
        draining.cancel()
        await draining.value
    }

    /// A description as a queue writes it, with something else in it.
    private func description(of id: Int) -> [UInt8] {
        let text =
            #"{"expiresAt":9e9,"fields":[],"id":\#(id),"keptAt":1,"method":"PUT","url":"http://a.example/\#(id)"}"#
        return Array(text.utf8)
    }

    @Test func aFolderHasOneQueueAtATime() async throws {
        var first: OfflineQueue? = try queue()
        #expect(await ending(of: put("/1"), from: agent(try #require(first))) == .failed(.queued))
        let error = #expect(throws: NetError.self) { try queue() }
        #expect(error?.code == .file && error?.nativeCode == Int(EWOULDBLOCK))
        #expect(error?.message.contains("used by another queue") == true)
        #expect(first?.requests.count == 1)
        first = nil
        #expect(try queue().requests.count == 1)
    }

    @Test func aDescriptionUnderAnotherNameIsLeftAlone() async throws {
        // It would be sent, and then another name removed.
        try folder.write(description(of: 7), to: "7.json")
        try folder.write(description(of: 8), to: "+00000000008.json")
        try folder.write(description(of: 9), to: "000000000009.json")
        let queue = try queue()
        #expect(queue.requests.map(\.id) == [9])
        await drain(queue, by: agent(queue), until: 1)
        #expect(stub.requests.map(\.path) == ["/9"] && folder.names == ["+00000000008.json", "7.json"])
    }
}
