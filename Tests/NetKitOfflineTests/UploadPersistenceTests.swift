import NetKit
import NetKitOffline
import NetKitTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Failures after which uploads stay in the queue.
@Suite(.timeLimit(.minutes(5)))
struct UploadPersistenceTests {
    private let stub = StubTransport()
    private let time = StubTime()
    private let folder: TemporaryFolder
    private let outcomes = Collected<String>()
    private let agent: Agent

    init() throws {
        folder = try TemporaryFolder()
        agent = Agent(.init(baseURL: "http://stub"), transport: stub)
        stub.register("*", with: .status(201))
    }

    private func queue(maxConcurrent: Int = 1) throws -> UploadQueue {
        let record: @Sendable (OfflineQueue.Outcome) -> Void = { [outcomes] outcome in
            switch outcome {
            case .answered(let upload, let response): outcomes.append("\(upload.id) answered \(response.status)")
            case .failed(let upload, let error): outcomes.append("\(upload.id) failed \(error.code)")
            case .expired(let upload): outcomes.append("\(upload.id) expired")
            }
        }
        return try UploadQueue(
            folder: folder.path, maxConcurrent: maxConcurrent, time: time.source, onOutcome: record)
    }

    private func upload(_ number: Int) -> Request<Void> {
        Request<Void>("up/\(number)", method: .post, body: .text("x"))
    }

    @Test(arguments: [1, 2, 5])
    func invalidatedAgentSendsNothingAndLeavesAllUploadsQueued(maxConcurrent: Int) async throws {
        let queue = try queue(maxConcurrent: maxConcurrent)
        for number in 1...3 {
            try await queue.add(upload(number))
        }
        await agent.invalidate()
        await agent.upload(queue, untilEmpty: true)
        await agent.upload(queue)
        #expect(queue.uploads.count == 3 && folder.names.count == 3)
        #expect(outcomes.values == [] && stub.requests.isEmpty)
        let other = StubTransport { _ in .status(201) }
        await Agent(agent.configuration, transport: other).upload(queue, untilEmpty: true)
        #expect(outcomes.values.sorted() == ["1 answered 201", "2 answered 201", "3 answered 201"])
    }

    @Test(arguments: [NetError.Code.circuitOpen, .cancelled, .cellularRefused, .descriptors, .noMemory, .thread])
    func unrelatedFailureLeavesTheUploadQueued(code: NetError.Code) async throws {
        stub.register("/up/1", with: .failure(code), .status(201))
        let queue = try queue()
        try await queue.add(upload(1))
        try await queue.add(upload(2))
        await agent.upload(queue, untilEmpty: true)
        #expect(outcomes.values == ["2 answered 201", "1 answered 201"])
        #expect(stub.requests.map(\.path) == ["/up/1", "/up/2", "/up/1"])
    }

    @Test func secretInABodyOrFormOfAnySizeIsRefused() async throws {
        let queue = try queue()
        let filler = String(repeating: "x", count: 70 << 10)
        var form = MultipartBody()
        form.append("ada", name: "user")
        form.append("hunter2", name: "password")
        var nested = MultipartBody()
        nested.append(["user": ["pin": "hunter2"]])
        let bodies: [Body] = [
            try .json(["password": "hunter2"]), try .json(["password": "hunter2", "filler": filler]),
            Body(
                Bytes(Array("password=hunter2&filler=\(filler)".utf8)),
                contentType: "application/x-www-form-urlencoded"),
            try .multipart(form), try .multipart(nested),
        ]
        for body in bodies {
            let request = Request<Void>("up", method: .post, body: body)
            let error = await #expect(throws: NetError.self) { try await queue.add(request) }
            #expect(error?.message == "the upload cannot be stored: its body contains a secret")
        }
        #expect(queue.uploads.isEmpty && folder.names == [])
    }

    @Test func persistedFilesAreOwnerOnly() async throws {
        let queue = try queue()
        try await queue.add(Request<Void>("up", method: .post, body: .text(String(repeating: "x", count: 70 << 10))))
        #expect(folder.names.count == 2)
        for name in folder.names {
            var info = stat()
            #expect(unsafe stat("\(folder.path)/\(name)", &info) == 0 && info.st_mode & 0o777 == 0o600)
        }
    }

    @Test func movedFolderKeepsItsCopies() async throws {
        let large = String(repeating: "x", count: 70 << 10)
        var first: UploadQueue? = try queue()
        try await first?.add(Request<Void>("up", method: .post, body: .text(large)))
        first = nil
        let otherFolder = try TemporaryFolder()
        let moved = otherFolder.path + "/moved"
        #expect(unsafe rename(folder.path, moved) == 0)
        let queue = try UploadQueue(folder: moved, time: time.source)
        await agent.upload(queue, untilEmpty: true)
        #expect(stub.requests.map(\.body.count) == [large.utf8.count])
    }

    @Test func cancelledAddPersistsNothing() async throws {
        let queue = try queue()
        let source = folder.path + "-source"
        try Data(repeating: 7, count: 1 << 20).write(to: URL(filePath: source))
        defer { try? FileManager.default.removeItem(atPath: source) }
        let adding = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            return try await queue.add(
                Request<Void>("up", method: .post, body: .file(source)), keeping: .copy)
        }
        let error = await #expect(throws: NetError.self) { try await adding.value }
        #expect(error?.code == .cancelled)
        #expect(queue.uploads.isEmpty && folder.names == [])
    }

    @Test func uploadWithItsOwnTrustPolicyIsRefused() async throws {
        let queue = try queue()
        var request = upload(1)
        request.trust = try .pinned("a.example", ["sha256/\(String(repeating: "A", count: 43))="])
        let refused = request
        let error = await #expect(throws: NetError.self) { try await queue.add(refused) }
        #expect(error?.code == .usage)
        #expect(
            error?.message
                == "the upload cannot be stored: it has a trust policy of its own, which the queue does not store")
        #expect(queue.uploads.isEmpty && folder.names == [])
    }

    @Test func uploadRecordIsNotWrittenOnTheEventLoop() async throws {
        let threads = Collected<UInt>()
        let body = Body.pull {
            var isOver = false
            return { span in
                threads.append(currentThread())
                defer { isOver = true }
                span[0] = UInt8(ascii: "x")
                return isOver ? 0 : 1
            }
        }
        let queue = try UploadQueue(folder: folder.path)
        let thread = try await withTaskExecutorPreference(Agent().executor) {
            try await queue.add(Request<Void>("/a", method: .post, body: body))
            return currentThread()
        }
        #expect(!threads.values.isEmpty && !threads.values.contains(thread))
        #expect(queue.uploads.count == 1)
    }

    @Test func uploadWithTrailersIsRefused() async throws {
        let queue = try queue()
        var request = upload(1)
        request.trailers = ["X-Sum": "1"]
        let refused = request
        let error = await #expect(throws: NetError.self) { try await queue.add(refused) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("trailers") == true)
    }
}
