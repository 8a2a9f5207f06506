import NetKit
import NetKitTesting
import Testing

/// Failures that leave uploads where they are.
@Suite(.timeLimit(.minutes(5)))
struct UploadKeepingTests {
    private let stub = StubTransport()
    private let time = StubTime()
    private let folder: TemporaryFolder
    private let told = Collected<String>()
    private let agent: Agent

    init() throws {
        folder = try TemporaryFolder()
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.answer("*", with: .status(201))
    }

    private func queue(maxConcurrent: Int = 1) throws -> UploadQueue {
        let tell: @Sendable (UploadQueue.Outcome) -> Void = { [told] outcome in
            switch outcome {
            case .answered(let upload, let response): told.append("\(upload.id) answered \(response.status)")
            case .failed(let upload, let error): told.append("\(upload.id) failed \(error.code)")
            case .expired(let upload): told.append("\(upload.id) expired")
            }
        }
        return try UploadQueue(
            folder: folder.path, maxConcurrent: maxConcurrent, time: time.source, onOutcome: tell)
    }

    private func upload(_ number: Int) -> Request<Void> {
        Request<Void>("up/\(number)", method: .post, body: .text("x"))
    }

    @Test(arguments: [1, 2, 5])
    func anInvalidatedAgentSendsNoMoreAndLeavesAllInPlace(maxConcurrent: Int) async throws {
        let queue = try queue(maxConcurrent: maxConcurrent)
        for number in 1...3 {
            try await queue.add(upload(number))
        }
        await agent.invalidate()
        await agent.upload(queue, untilEmpty: true)
        await agent.upload(queue)
        #expect(queue.uploads.count == 3 && folder.names.count == 3)
        #expect(told.values == [] && stub.requests.isEmpty)
        let other = StubTransport { _ in .status(201) }
        await Agent(agent.configuration, transport: other).upload(queue, untilEmpty: true)
        #expect(told.values.sorted() == ["1 answered 201", "2 answered 201", "3 answered 201"])
    }

    @Test(arguments: [NetError.Code.circuitOpen, .cancelled, .cellularRefused, .descriptors, .noMemory, .thread])
    func whatSaysNothingOfTheUploadLeavesItInPlace(code: NetError.Code) async throws {
        stub.answer("/up/1", with: .failure(code), .status(201))
        let queue = try queue()
        try await queue.add(upload(1))
        try await queue.add(upload(2))
        await agent.upload(queue, untilEmpty: true)
        #expect(told.values == ["2 answered 201", "1 answered 201"])
        #expect(stub.requests.map(\.path) == ["/up/1", "/up/2", "/up/1"])
    }

    @Test func anUploadWithATrustOfItsOwnIsRefused() async throws {
        let queue = try queue()
        var request = upload(1)
        request.trust = try .pinned("a.example", ["sha256/\(String(repeating: "A", count: 43))="])
        let refused = request
        let error = await #expect(throws: NetError.self) { try await queue.add(refused) }
        #expect(error?.code == .usage)
        #expect(
            error?.message
                == "the upload cannot be kept: it has a trust policy of its own, which is not written down")
        #expect(queue.uploads.isEmpty && folder.names == [])
    }
}
