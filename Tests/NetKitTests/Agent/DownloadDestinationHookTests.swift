import NetKit
import Testing

/// The destination closure of a download runs with the caller's priority and task-local values, and ends with the
/// download.
@Suite(.timeLimit(.minutes(5)))
struct DownloadDestinationHookTests {
    @TaskLocal private static var mark = "nobody's"

    private let server: LoopbackServer
    private let folder: TemporaryFolder
    /// Whether each closure was cancelled when it returned.
    private let wasCancelled = Collected<Bool>()

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
        server.script("/", .text("the body"))
    }

    /// Returns a destination closure that returns only when its task is cancelled.
    private func patient(_ hookCalled: Gate) -> DownloadDestination {
        { [wasCancelled] _ in
            hookCalled.open()
            try? await Task.sleep(for: .seconds(3600))
            wasCancelled.append(Task.isCancelled)
            return nil
        }
    }

    @Test func cancellingEndsTheDestinationHook() async throws {
        let hookCalled = Gate()
        let destination = patient(hookCalled)
        let call = Task { [server, folder] in
            try await Agent().download(
                Request<Bytes>(server.url("/")), to: folder.file("file"), destination: destination)
        }
        try await hookCalled.opened()
        call.cancel()
        let error = await #expect(throws: NetError.self) { try await call.value }
        #expect(error?.code == .cancelled)
        #expect(wasCancelled.values == [true])
        #expect(folder.contents(of: "file") == nil)
    }

    @Test func timeoutOfADownloadEndsTheDestinationHook() async throws {
        var request = Request<Bytes>(server.url("/"))
        request.limits = Limits()
        request.limits.total = .seconds(2)
        let asking = request
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(asking, to: folder.file("file"), destination: patient(Gate()))
        }
        #expect(error?.code == .timeout)
        #expect(wasCancelled.values == [true])
    }

    @Test func errorThrownByACancelledHookIsReportedAsCancelled() async throws {
        let hookCalled = Gate()
        var request = Request<Bytes>(server.url("/"))
        request.interceptors.append(
            TransferHooks(head: { _, _ in
                hookCalled.open()
                try await Task.sleep(for: .seconds(3600))
                return .allow
            }))
        let call = Task { [folder, request] in try await Agent().download(request, to: folder.file("file")) }
        try await hookCalled.opened()
        call.cancel()
        let error = await #expect(throws: NetError.self) { try await call.value }
        #expect(error?.code == .cancelled)
    }

    @Test func destinationHookInheritsTaskLocalValuesAndPriority() async throws {
        let marks = Collected<String>()
        let priorities = Collected<TaskPriority>()
        let destination: DownloadDestination = { _ in
            marks.append(Self.mark)
            priorities.append(Task.currentPriority)
            return nil
        }
        let call = Task(priority: .high) { [server, folder] in
            try await Self.$mark.withValue("the caller's") {
                try await Agent().download(
                    Request<Bytes>(server.url("/")), to: folder.file("file"), destination: destination)
            }
        }
        // Awaiting the value would raise the task's priority.
        while marks.values.isEmpty || priorities.values.isEmpty {
            await Task.yield()
        }
        _ = try await call.value
        #expect(marks.values == ["the caller's"])
        #expect(priorities.values == [.high])
    }
}
