import NetKit
import NetKitCompat
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Downloads to files: complete, resumed, named and checked.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
    }

    private static let strong = ["ETag: \"v1\""]
    private static let whole = Reply(headers: strong, patternLength: 20_000, answersRanges: true)
    private static let cut = Reply(headers: strong, patternLength: 20_000, cutAfter: 9_000, ending: .close)
    private static let stalled = Reply(
        headers: strong, patternLength: 20_000, answersRanges: true, cutAfter: 9_000, ending: .stall)

    private var request: Request<Bytes> { Request<Bytes>(server.url("/file")) }

    private func expectPattern(_ name: String, location: SourceLocation = #_sourceLocation) {
        var check = PatternCheck()
        check.take(Bytes(folder.contents(of: name) ?? []))
        #expect(check.count == 20_000 && check.isPattern, sourceLocation: location)
    }

    private func fail(_ agent: Agent = Agent()) async throws -> NetError {
        server.script("/file", Self.cut)
        return try #require(
            await #expect(throws: NetError.self) { _ = try await agent.download(request, to: folder.file("file")) })
    }

    @Test func completeFileAppearsWithoutPartialFiles() async throws {
        server.script("/file", Self.whole)
        let response = try await Agent().download(request, to: folder.file("file"))
        #expect(response.status == 200 && response.headers["ETag"] == "\"v1\"")
        #expect(response.value.path == folder.file("file"))
        #expect(response.value.byteCount == 20_000 && response.value.resumedBytes == 0)
        #expect(folder.names == ["file"])
        expectPattern("file")
    }

    @Test func failedDownloadResumesAtItsLastByte() async throws {
        #expect(try await fail().code == .cutShort)
        #expect(folder.names == ["file.part", "file.part.nk"])
        server.script("/file", Self.whole)
        let events = Collected<Event>()
        var sent = request
        sent.observers = [EventCollector(events: events)]
        let response = try await Agent().download(sent, to: folder.file("file"))
        let offsets = events.values.compactMap(\.resumedOffset)
        #expect(offsets.count == 1 && offsets[0] > 8_000)
        #expect(response.status == 206 && response.value.resumedBytes > 8_000)
        #expect(server.received(1).values(named: "If-Range") == ["\"v1\""])
        expectPattern("file")
        #expect(folder.names == ["file"])
    }

    @Test func bodyThatIsNotTheExpectedJSONLeavesNoFile() async throws {
        server.script("/file", .json(#"{"id": "x"}"#))
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request.expecting(["id": .integer]), to: folder.file("file"))
        }
        #expect(error?.code == .shapeMismatch && folder.names.isEmpty)
    }

    @Test func partialFileCanBeOnAnotherFileSystem() async throws {
        func device(_ path: String) -> String? {
            (try? FileManager.default.attributesOfItem(atPath: path))?[.systemNumber].map { String(describing: $0) }
        }
        let here = device(folder.file("."))
        let roots = ["/dev/shm", "/tmp", "/var/tmp"].filter { device($0) != nil && device($0) != here }
        guard let root = roots.first else { return print("SKIPPED: there is no second file system to write to") }
        let parts = "\(root)/netkit-part-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: parts, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: parts) }
        let names = { try FileManager.default.contentsOfDirectory(atPath: parts).sorted() }
        var options = DownloadOptions()
        options.partialFolder = parts
        server.script("/file", Self.cut)
        let agent = Agent()
        await #expect(throws: NetError.self) {
            _ = try await agent.download(request, to: folder.file("file"), options: options)
        }
        #expect(try names() == ["file.part", "file.part.nk"] && folder.names.isEmpty)
        server.script("/file", Self.whole)
        let response = try await agent.download(request, to: folder.file("file"), options: options)
        #expect(response.value.resumedBytes > 0)
        #expect(try names().isEmpty && folder.names == ["file"])
        expectPattern("file")
    }

    @Test(arguments: [Duration.seconds(Int64.max), .milliseconds(Int64.max) + .milliseconds(100), .zero, .seconds(-1)])
    func checkpointIntervalAcceptsAnyDuration(interval: Duration) async throws {
        var options = DownloadOptions()
        options.checkpointInterval = interval
        server.script("/file", Self.whole)
        _ = try await Agent().download(request, to: folder.file("file"), options: options)
        expectPattern("file")
    }

    @Test func anotherVersionRestartsTheDownload() async throws {
        _ = try await fail()
        server.script("/file", Reply(headers: ["ETag: \"v2\""], body: Array("new".utf8), answersRanges: true))
        let events = Collected<Event>()
        var sent = request
        sent.observers = [EventCollector(events: events)]
        _ = try await Agent().download(sent, to: folder.file("file"))
        #expect(events.values.compactMap(\.resumedOffset) == [0])
        #expect(folder.contents(of: "file") == Array("new".utf8))
    }

    @Test func oldFileRemainsUntilTheNewOneIsComplete() async throws {
        try folder.write(Array("old".utf8), to: "file")
        _ = try await fail()
        #expect(folder.contents(of: "file") == Array("old".utf8))
        server.script("/file", Self.whole)
        _ = try await Agent().download(request, to: folder.file("file"))
        expectPattern("file")
    }

    @Test func errorPageIsInTheErrorAndNotInTheFile() async throws {
        try folder.write(Array("old".utf8), to: "file")
        server.script("/file", Reply(status: 404, body: Array("not here".utf8)))
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"))
        }
        #expect(error?.code == .status && error?.nativeCode == 404)
        #expect(error?.response.map { String(decoding: $0.bytes.data, as: UTF8.self) } == "not here")
        #expect(folder.contents(of: "file") == Array("old".utf8) && folder.names == ["file"])
    }

    /// Starts a download, and returns when there are bytes to resume from.
    private func started(_ request: Request<Bytes>) async -> CallHandle<Response<DownloadedFile>> {
        let (handler, updates) = TransferProgress.stream()
        var request = request
        request.progress = handler
        let handle = Agent().start(Download(request, to: folder.file("file")), on: .here)
        for await progress in updates where progress.received > 0 { break }
        return handle
    }

    /// Cancels a download and returns its error.
    private func cancel(_ handle: CallHandle<Response<DownloadedFile>>) async -> NetError? {
        handle.cancel()
        guard case .failure(let error) = await handle.result else { return nil }
        return error
    }

    @Test func errorOfACancelledDownloadHasAResumeToken() async throws {
        server.script("/file", Self.stalled)
        let error = try #require(await cancel(await started(request)))
        let token = try #require(error.resumeToken)
        #expect(error.code == .cancelled)
        #expect(token.partialPath == folder.file("file.part") && token.receivedBytes > 0)
        let decodedToken = try JSONDecoder().decode(ResumeToken.self, from: try JSONEncoder().encode(token))
        #expect(decodedToken == token)
        server.script("/file", Self.whole)
        let response = try await Agent().download(request, resuming: decodedToken)
        #expect(response.value.resumedBytes == token.receivedBytes)
        expectPattern("file")
    }

    @Test func resumeTokenContainsNoCredentials() async throws {
        server.script("/file", [Self.stalled, Self.whole])
        let address = server.url("/file").replacing("http://", with: "http://user:secret@")
        let sentRequest = Request<Bytes>(address)
        let token = try #require(await cancel(await started(sentRequest))?.resumeToken)
        #expect(token.url == server.url("/file"))
        _ = try await Agent().download(sentRequest, resuming: token)
        expectPattern("file")
    }

    @Test func cancelledTaskThrowsAndLeavesThePartialFile() async throws {
        server.script("/file", Self.stalled)
        let task = Task { try await Agent().download(request, to: folder.file("file")) }
        try await server.waitForStalled(1)
        task.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!folder.names.contains("file"))
    }

    @Test func progressAndObserversFollowTheDownload() async throws {
        server.script("/file", Self.whole)
        let (progress, events) = (Collected<TransferProgress>(), Collected<Event>())
        var sent = request
        sent.progress = { progress.append($0) }
        sent.observers = [EventCollector(events: events)]
        let whole = CallProgress()
        let download = Download(sent, to: folder.file("file"))
        let handle = Agent().start(download, on: .here, options: .init(tracking: whole))
        #expect(try await handle.value.value.byteCount == 20_000)
        let last = try #require(progress.values.last)
        #expect(last.isOver && last.received == 20_000 && last.receiveTotal == 20_000 && last.resumed == 0)
        #expect(whole.current.isOver && whole.current.fractionCompleted == 1)
        let heads = events.values.count { event in
            if case .headReceived(let head) = event.change { head.status == 200 } else { false }
        }
        #expect(heads == 1)
    }

    @Test func resumedDownloadReportsItsOffsetToTheObservers() async throws {
        server.script("/file", [Self.stalled, Self.whole])
        let token = try #require(await cancel(await started(request))?.resumeToken)
        let (progress, events) = (Collected<TransferProgress>(), Collected<Event>())
        var sent = request
        sent.progress = { progress.append($0) }
        sent.observers = [EventCollector(events: events)]
        _ = try await Agent().download(sent, resuming: token)
        #expect(events.values.compactMap(\.resumedOffset) == [token.receivedBytes])
        #expect(progress.values.last?.resumed == token.receivedBytes && progress.values.last?.received == 20_000)
    }

    @Test func pausedDownloadWaitsUntilItIsResumed() async throws {
        server.script("/file", Self.stalled)
        let handle = Agent().start(Download(request, to: folder.file("file")), on: .here)
        try await server.waitForStalled(1)
        handle.pause()
        handle.setPriority(.high)
        server.releaseStalled()
        handle.resume()
        _ = try await handle.value
        expectPattern("file")
    }

    @Test func directoryReceivesTheFileUnderASafeName() async throws {
        let headers = Self.strong + ["Content-Disposition: attachment; filename=\"../../a\\\"b.txt\""]
        server.script("/file", Reply(headers: headers, patternLength: 20_000))
        let response = try await Agent().download(request, to: folder.path)
        #expect(response.value.path == folder.file("a_b.txt"))
        expectPattern("a_b.txt")
        let again = await #expect(throws: NetError.self) { _ = try await Agent().download(request, to: folder.path) }
        #expect(again?.code == .file && again?.message.contains("a_b.txt") == true)
        var options = DownloadOptions()
        options.overwrite = true
        options.takesNameFromDisposition = false
        #expect(
            try await Agent().download(request, to: folder.path, options: options).value.path == folder.file("file"))
    }

    @Test func agentDestinationTakesPrecedenceUnlessItReturnsNil() async throws {
        server.script("/file", Self.whole)
        server.script("/other", Self.whole)
        var configuration = Agent.Configuration()
        configuration.downloadDestination = { [folder] head in
            head.url.hasSuffix("/file") ? folder.file("agent") : nil
        }
        let agent = Agent(configuration)
        let own: DownloadDestination = { [folder] head in head.status == 200 ? folder.file("own") : nil }
        #expect(
            try await agent.download(request, to: folder.file("x"), destination: own).value.path
                == folder.file("agent"))
        let other = Request<Bytes>(server.url("/other"))
        #expect(
            try await agent.download(other, to: folder.file("x"), destination: own).value.path == folder.file("own"))
        #expect(try await agent.download(other, to: folder.file("x")).value.path == folder.file("x"))
        #expect(folder.names == ["agent", "own", "x"])
    }

    @Test func unacceptableContentTypeIsNotSaved() async throws {
        server.script("/file", Reply(headers: ["Content-Type: text/html"], body: Array("log in".utf8)))
        try folder.write(Array("old".utf8), to: "file")
        var expectedRequest = request
        expectedRequest.acceptedTypes = ["application/zip"]
        let sentRequest = expectedRequest
        for path in [folder.file("file"), folder.file("other")] {
            let error = await #expect(throws: NetError.self) { try await Agent().download(sentRequest, to: path) }
            #expect(error?.code == .contentType && error?.response?.headers["Content-Type"] == "text/html")
        }
        #expect(folder.names == ["file"] && folder.contents(of: "file") == Array("old".utf8))
        _ = try await fail()
        server.script("/file", Reply(headers: Self.strong, patternLength: 20_000, answersRanges: true))
        expectedRequest.acceptedTypes = ["application/octet-stream", "*/*"]
        #expect(try await Agent().download(expectedRequest, to: folder.file("file")).value.resumedBytes > 8_000)
    }

    @Test func digestMismatchLeavesNoFile() async throws {
        server.script("/file", Reply(body: Array("abd".utf8)))
        var options = DownloadOptions()
        options.checksums = [.md5("900150983CD24FB0D6963f7d28e17f72")]
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"), options: options)
        }
        #expect(error?.code == .digestMismatch)
        #expect(folder.names == [])
        options.checksums = [.sha256("0102")]
        let usage = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"), options: options)
        }
        #expect(usage?.code == .usage)
    }

    private struct Again: Interceptor {
        func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
            do throws(NetError) {
                return try await next(call)
            } catch {
                return try await next(call)
            }
        }
    }

    @Test func retryOfAnInterceptorResumesTheDownload() async throws {
        server.script("/file", [Self.cut, Self.whole])
        var configuration = Agent.Configuration()
        configuration.interceptors = [Again()]
        let response = try await Agent(configuration).download(request, to: folder.file("file"))
        #expect(response.value.resumedBytes > 8_000)
        expectPattern("file")
    }

    @Test func segmentsAreJoinedIntoOneFile() async throws {
        server.script("/file", Reply(headers: Self.strong, patternLength: 1_500_000, answersRanges: true))
        var options = DownloadOptions()
        options.segments = 3
        options.isDurable = false
        let response = try await Agent().download(request, to: folder.file("file"), options: options)
        var check = PatternCheck()
        check.take(Bytes(folder.contents(of: "file") ?? []))
        #expect(response.value.byteCount == 1_500_000 && check.count == 1_500_000 && check.isPattern)
    }

    @Test func inventoryListsResumesAndRemovesDownloads() async throws {
        _ = try await fail()
        let agent = Agent()
        let found = try await agent.partialDownloads(in: folder.path)
        #expect(found.map(\.url) == [server.url("/file")] && found.map(\.path) == [folder.file("file")])
        #expect(found.first?.totalBytes == 20_000 && found.first?.hasValidator == true)
        #expect(try await agent.purgePartialDownloads(in: folder.path, olderThan: Date(timeIntervalSince1970: 0)) == 0)
        server.script("/file", Self.whole)
        let outcomes = try await agent.resumePartialDownloads(in: folder.path)
        let resumed = try #require(outcomes.first).1.get()
        #expect(outcomes.count == 1 && resumed.resumedBytes > 8_000)
        expectPattern("file")
        _ = try await fail()
        #expect(try await agent.purgePartialDownloads(in: folder.path, olderThan: nil) == 1)
        #expect(folder.names == ["file"])
    }
}

/// Collects all events of a call.
private struct EventCollector: Observer {
    let events: Collected<Event>

    func observe(_ event: Event) { events.append(event) }
}

extension Event {
    /// The offset at which a download continues; `nil` for other events.
    fileprivate var resumedOffset: Int? {
        if case .downloadResumed(let offset, _) = change { offset } else { nil }
    }
}
