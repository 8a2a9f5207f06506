import NetKit
import Synchronization
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

    @Test func aFileAppearsWholeAndAlone() async throws {
        server.script("/file", Self.whole)
        let response = try await Agent().download(request, to: folder.file("file"))
        #expect(response.status == 200 && response.headers["ETag"] == "\"v1\"")
        #expect(response.value.path == folder.file("file"))
        #expect(response.value.byteCount == 20_000 && response.value.resumedBytes == 0)
        #expect(folder.names == ["file"])
        expectPattern("file")
    }

    @Test func aFailureIsResumedWhereItEnded() async throws {
        #expect(try await fail().code == .cutShort)
        #expect(folder.names == ["file.part", "file.part.nk"])
        server.script("/file", Self.whole)
        let told = Mutex<[String]>([])
        let response = try await Agent().download(request, to: folder.file("file")) { event in
            if case .resumed(let offset, let total) = event {
                told.withLock { $0.append("\(offset > 8_000) \(total ?? 0)") }
            }
        }
        #expect(told.withLock { $0 } == ["true 20000"])
        #expect(response.status == 206 && response.value.resumedBytes > 8_000)
        #expect(server.received(1).values(named: "If-Range") == ["\"v1\""])
        expectPattern("file")
        #expect(folder.names == ["file"])
    }

    @Test func whatIsExpectedOfABodyIsNotPassedOverInSilence() async throws {
        let error = await #expect(throws: NetError.self) {
            try await Agent().download(request.expecting(["id": .integer]), to: folder.file("file"))
        }
        #expect(error?.code == .usage && server.requestCount == 0 && folder.names.isEmpty)
    }

    @Test func aPartMayLieOnAnotherFileSystem() async throws {
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
    func anyTimeMayLieBetweenProofs(interval: Duration) async throws {
        var options = DownloadOptions()
        options.proofInterval = interval
        server.script("/file", Self.whole)
        _ = try await Agent().download(request, to: folder.file("file"), options: options)
        expectPattern("file")
    }

    @Test func anotherVersionBeginsAnew() async throws {
        _ = try await fail()
        server.script("/file", Reply(headers: ["ETag: \"v2\""], body: Array("new".utf8), answersRanges: true))
        let told = Mutex<[Int]>([])
        _ = try await Agent().download(request, to: folder.file("file")) { event in
            if case .resumed(let offset, _) = event {
                told.withLock { $0.append(offset) }
            }
        }
        #expect(told.withLock { $0 } == [0])
        #expect(folder.contents(of: "file") == Array("new".utf8))
    }

    @Test func theOldFileStaysUntilTheNewOneIsWhole() async throws {
        try folder.write(Array("old".utf8), to: "file")
        _ = try await fail()
        #expect(folder.contents(of: "file") == Array("old".utf8))
        server.script("/file", Self.whole)
        _ = try await Agent().download(request, to: folder.file("file"))
        expectPattern("file")
    }

    @Test func anErrorPageIsInTheErrorAndNotInTheFile() async throws {
        try folder.write(Array("old".utf8), to: "file")
        server.script("/file", Reply(status: 404, body: Array("not here".utf8)))
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"))
        }
        #expect(error?.code == .unacceptableStatus && error?.nativeCode == 404)
        #expect(error?.response.map { String(decoding: $0.bytes.data, as: UTF8.self) } == "not here")
        #expect(folder.contents(of: "file") == Array("old".utf8) && folder.names == ["file"])
    }

    /// Waits until there are bytes to resume from.
    private func someBytes(of download: Download) async {
        var updates = download.progress.makeAsyncIterator()
        while let progress = await updates.next(), progress.received == 0 {}
    }

    @Test func cancellingGivesATokenToGoOnWith() async throws {
        server.script("/file", Self.stalled)
        let download = Agent().startDownload(request, to: folder.file("file"))
        await someBytes(of: download)
        let token = try #require(await download.cancel())
        await #expect(throws: NetError.self) { try await download.response }
        #expect(token.partialPath == folder.file("file.part") && token.receivedBytes > 0)
        #expect(download.resumeToken == token)
        let kept = try JSONDecoder().decode(ResumeToken.self, from: try JSONEncoder().encode(token))
        #expect(kept == token)
        server.script("/file", Self.whole)
        let response = try await Agent().download(request, resuming: kept)
        #expect(response.value.resumedBytes == token.receivedBytes)
        expectPattern("file")
    }

    @Test func aTokenHoldsNoCredentials() async throws {
        server.script("/file", [Self.stalled, Self.whole])
        let address = server.url("/file").replacing("http://", with: "http://user:secret@")
        let asked = Request<Bytes>(address)
        let download = Agent().startDownload(asked, to: folder.file("file"))
        await someBytes(of: download)
        let token = try #require(await download.cancel())
        #expect(token.url == server.url("/file"))
        _ = try await Agent().download(asked, resuming: token)
        expectPattern("file")
    }

    @Test func whatIsCancelledBeforeItBeganStillHasItsToken() async throws {
        server.script("/file", Self.stalled)
        let agent = Agent()
        let begun = agent.startDownload(request, to: folder.file("file"))
        await someBytes(of: begun)
        let token = try #require(await begun.cancel())
        #expect(await agent.startDownload(request, resuming: token).cancel() == token)
    }

    @Test func aCancelledTaskThrowsAndKeepsWhatIsThere() async throws {
        server.script("/file", Self.stalled)
        let task = Task { try await Agent().download(request, to: folder.file("file")) }
        try await server.waitForStalled(1)
        task.cancel()
        let error = await #expect(throws: NetError.self) { _ = try await task.value }
        #expect(error?.code == .cancelled)
        #expect(!folder.names.contains("file"))
    }

    @Test func eventsAndProgressEndWithTheDownload() async throws {
        server.script("/file", Self.whole)
        let download = Agent().startDownload(request, to: folder.file("file"))
        var heads = 0
        var last = DownloadProgress()
        for await event in download.events {
            switch event {
            case .head(let head): heads += head.status == 200 ? 1 : 0
            case .progress(let progress): last = progress
            case .resumed: Issue.record("nothing was resumed")
            }
        }
        #expect(heads == 1 && last.received == 20_000 && last.total == 20_000 && last.fractionCompleted == 1)
        #expect(try await download.response.value.byteCount == 20_000)
    }

    @Test func aPausedDownloadWaitsAndGoesOn() async throws {
        server.script("/file", Self.stalled)
        let download = Agent().startDownload(request, to: folder.file("file"))
        try await server.waitForStalled(1)
        download.pause()
        download.setPriority(.high)
        server.releaseStalled()
        download.resume()
        _ = try await download.response
        expectPattern("file")
    }

    @Test func aDirectoryGetsTheFileUnderAHarmlessName() async throws {
        let headers = Self.strong + ["Content-Disposition: attachment; filename=\"../../a\\\"b.txt\""]
        server.script("/file", Reply(headers: headers, patternLength: 20_000))
        let response = try await Agent().download(request, to: folder.path)
        #expect(response.value.path == folder.file("a_b.txt"))
        expectPattern("a_b.txt")
        let again = await #expect(throws: NetError.self) { _ = try await Agent().download(request, to: folder.path) }
        #expect(again?.code == .file && again?.message.contains("a_b.txt") == true)
        var options = DownloadOptions()
        options.existing = .replaced
        options.takesNameFromDisposition = false
        #expect(
            try await Agent().download(request, to: folder.path, options: options).value.path == folder.file("file"))
    }

    @Test func theAgentsDestinationWinsAndNilFallsThrough() async throws {
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

    @Test func aTypeThatIsNotAcceptedIsNotSaved() async throws {
        server.script("/file", Reply(headers: ["Content-Type: text/html"], body: Array("log in".utf8)))
        try folder.write(Array("old".utf8), to: "file")
        var wanted = request
        wanted.acceptedTypes = ["application/zip"]
        let asked = wanted
        for path in [folder.file("file"), folder.file("other")] {
            let error = await #expect(throws: NetError.self) { try await Agent().download(asked, to: path) }
            #expect(error?.code == .unacceptableType && error?.response?.headers["Content-Type"] == "text/html")
        }
        #expect(folder.names == ["file"] && folder.contents(of: "file") == Array("old".utf8))
        _ = try await fail()
        server.script("/file", Reply(headers: Self.strong, patternLength: 20_000, answersRanges: true))
        wanted.acceptedTypes = ["application/octet-stream", "*/*"]
        #expect(try await Agent().download(wanted, to: folder.file("file")).value.resumedBytes > 8_000)
    }

    @Test func aDigestThatDoesNotFitLeavesNothing() async throws {
        server.script("/file", Reply(body: Array("abd".utf8)))
        var options = DownloadOptions()
        options.md5 = [0x90, 0x01, 0x50, 0x98, 0x3c, 0xd2, 0x4f, 0xb0, 0xd6, 0x96, 0x3f, 0x7d, 0x28, 0xe1, 0x7f, 0x72]
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"), options: options)
        }
        #expect(error?.code == .digestMismatch)
        #expect(folder.names == [])
        options.sha256 = [1, 2]
        let usage = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("file"), options: options)
        }
        #expect(usage?.code == .usage)
    }

    private struct Again: Interceptor {
        func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
            do throws(NetError) {
                return try await next(call)
            } catch {
                return try await next(call)
            }
        }
    }

    @Test func aSecondTryOfAnInterceptorResumes() async throws {
        server.script("/file", [Self.cut, Self.whole])
        var configuration = Agent.Configuration()
        configuration.interceptors = [Again()]
        let response = try await Agent(configuration).download(request, to: folder.file("file"))
        #expect(response.value.resumedBytes > 8_000)
        expectPattern("file")
    }

    @Test func segmentsMakeOneFile() async throws {
        server.script("/file", Reply(headers: Self.strong, patternLength: 1_500_000, answersRanges: true))
        var options = DownloadOptions()
        options.segments = 3
        options.isDurable = false
        let response = try await Agent().download(request, to: folder.file("file"), options: options)
        var check = PatternCheck()
        check.take(Bytes(folder.contents(of: "file") ?? []))
        #expect(response.value.byteCount == 1_500_000 && check.count == 1_500_000 && check.isPattern)
    }

    @Test func theInventoryListsResumesAndPurges() async throws {
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
