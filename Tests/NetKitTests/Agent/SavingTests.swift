import NetKit
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Bodies that are saved to a file completely or not at all.
@Suite(.timeLimit(.minutes(5)))
struct SavingTests {
    private static let old = Array("what was there".utf8)

    private func expectPattern(_ bytes: [UInt8]?, _ count: Int) {
        var check = PatternCheck()
        check.take(Bytes(bytes ?? []))
        #expect(bytes != nil)
        #expect(check.count == count && check.isPattern)
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 20_000_003], [0, 70_000])
    func bodyIsSavedUnchanged(length: UInt64, chunkBytes: Int) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 201, headers: ["X: 1"], patternLength: length, chunkBytes: chunkBytes))
        let folder = try TemporaryFolder()
        let response = try await Agent().download(
            Request<Bytes>(server.url("/")), to: folder.file("body"), options: .init(isResumable: false))
        #expect(response.status == 201)
        #expect(response.headers["X"] == "1")
        #expect(response.value.path == folder.file("body"))
        #expect(response.value.byteCount == Int(length))
        #expect(response.bytes.isEmpty)
        #expect(folder.names == ["body"])
        expectPattern(folder.contents(of: "body"), Int(length))
    }

    @Test func existingFileIsReplaced() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "body")
        _ = try await Agent().download(
            Request<Bytes>(server.url("/")), to: folder.file("body"), options: .init(isResumable: false))
        #expect(folder.names == ["body"])
        expectPattern(folder.contents(of: "body"), 5)
    }

    @Test(arguments: [false, true], [mode_t(0o600), 0o666, 0o755])
    func replacementFileKeepsThePermissions(isHooked: Bool, mode: mode_t) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "body", mode: mode)
        var request = Request<Bytes>(server.url("/"))
        if isHooked {
            request.interceptors.append(TransferHooks(head: { _, _ in .allow }))
        }
        _ = try await Agent().download(request, to: folder.file("body"), options: .init(isResumable: false))
        expectPattern(folder.contents(of: "body"), 5)
        #expect(folder.mode(of: "body") == S_IFREG | mode)
    }

    /// The mode is 0666 without the bits of the process's umask, as for other new files. It is never executable.
    @Test func newFileHasTheDefaultMode() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 5))
        let folder = try TemporaryFolder()
        let descriptor = unsafe open(folder.file("other"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        close(descriptor)
        _ = try await Agent().download(
            Request<Bytes>(server.url("/")), to: folder.file("body"), options: .init(isResumable: false))
        #expect(folder.mode(of: "body") == folder.mode(of: "other"))
        #expect(folder.mode(of: "body") & 0o111 == 0)
    }

    @Test(arguments: [Reply.Ending.close, .reset], [0, 1000])
    func aBodyCutShortLeavesTheOldFile(ending: Reply.Ending, chunkBytes: Int) async throws {
        let server = try LoopbackServer()
        var reply = Reply(patternLength: 5_000_000, chunkBytes: chunkBytes)
        reply.cutAfter = 1_000_000
        reply.ending = ending
        server.script("/", reply)
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "kept")
        for name in ["kept", "new"] {
            let error = await #expect(throws: NetError.self) {
                _ = try await Agent().download(
                    Request<Bytes>(server.url("/")), to: folder.file(name), options: .init(isResumable: false))
            }
            #expect(error?.code == (ending == .close ? .cutShort : .reset))
        }
        #expect(folder.names == ["kept"])
        #expect(folder.contents(of: "kept") == Self.old)
    }

    @Test(arguments: [300, 404, 500])
    func anotherStatusIsNotSaved(status: UInt16) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: status, body: Array("no".utf8)))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "kept")
        for name in ["kept", "new"] {
            var accepting = Request<Bytes>(server.url("/"))
            accepting.acceptedStatuses = 0..<1000
            let request = accepting
            let error = await #expect(throws: NetError.self) {
                _ = try await Agent().download(request, to: folder.file(name), options: .init(isResumable: false))
            }
            #expect(error?.code == .status)
            #expect(error?.nativeCode == Int(status))
            #expect(error?.response?.bytes == Bytes(Array("no".utf8)))
        }
        #expect(folder.names == ["kept"])
        #expect(folder.contents(of: "kept") == Self.old)
    }

    @Test func anotherTypeIsNotSaved() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(headers: ["Content-Type: text/html"], body: Array("log in".utf8)))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "kept")
        var accepting = Request<Bytes>(server.url("/"))
        accepting.acceptedTypes = ["application/zip"]
        let request = accepting
        for name in ["kept", "new"] {
            let error = await #expect(throws: NetError.self) {
                _ = try await Agent().download(request, to: folder.file(name), options: .init(isResumable: false))
            }
            #expect(error?.code == .contentType)
        }
        #expect(folder.names == ["kept"])
        #expect(folder.contents(of: "kept") == Self.old)
    }

    @Test func aRedirectsOwnBodyIsNotSaved() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(status: 302, body: Array("elsewhere".utf8), location: "/there"))
        server.script("/there", Reply(patternLength: 100))
        let folder = try TemporaryFolder()
        let response = try await Agent().download(
            Request<Bytes>(server.url("/")), to: folder.file("body"), options: .init(isResumable: false))
        #expect(response.value.byteCount == 100)
        expectPattern(folder.contents(of: "body"), 100)
    }

    @Test func cancellingLeavesNoFile() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000, cutAfter: 500_000, ending: .stall))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "kept")
        let agent = Agent()
        let task = Task {
            await failureCode { () throws(NetError) in
                _ = try await agent.download(
                    Request<Bytes>(server.url("/")), to: folder.file("kept"), options: .init(isResumable: false))
            }
        }
        try await server.waitForStalled(1)
        #expect(folder.names.count == 2)
        task.cancel()
        #expect(await task.value == .cancelled)
        #expect(folder.names == ["kept"])
        #expect(folder.contents(of: "kept") == Self.old)
        try await server.waitForSilence()
    }

    @Test func unwritableDestinationSendsNoRequest() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100))
        let folder = try TemporaryFolder()
        try folder.write(Self.old, to: "file")
        for path in [folder.file("missing/body"), folder.file("file/body"), folder.path, "/proc/nk-body"] {
            let error = await #expect(throws: NetError.self) {
                _ = try await Agent().download(
                    Request<Bytes>(server.url("/")), to: path, options: .init(isResumable: false))
            }
            #expect(error?.code == .file)
            #expect(error?.message.contains(path) == true)
        }
        #expect(server.requestCount == 0)
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(Request<Bytes>(server.url("/")), to: "", options: .init(isResumable: false))
        }
        #expect(error?.code == .usage)
        #expect(folder.names == ["file"])
    }

    @Test func aBodyOverItsLimitIsNotSaved() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 2_000_000, chunkBytes: 1000))
        let folder = try TemporaryFolder()
        var limited = Request<Bytes>(server.url("/"))
        limited.limits = .streaming
        limited.limits.maxBodyBytes = 1_000_000
        let request = limited
        let error = await #expect(throws: NetError.self) {
            _ = try await Agent().download(request, to: folder.file("body"), options: .init(isResumable: false))
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(folder.names.isEmpty)
    }

    @Test func progressIsReportedUntilTheEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let folder = try TemporaryFolder()
        let reportedProgress = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { reportedProgress.append($0) }
        _ = try await Agent().download(request, to: folder.file("body"), options: .init(isResumable: false))
        let last = try #require(reportedProgress.values.last { !$0.isOver })
        #expect(last.received == 3_000_000 && last.receiveTotal == 3_000_000)
        #expect(last.timeLeft == .zero)
        #expect(reportedProgress.values.filter(\.isOver).count == 1 && reportedProgress.values.last?.isOver == true)
    }

    @Test func oneTransferCanUploadAndSave() async throws {
        let server = try LoopbackServer()
        server.script("/", .echo)
        let folder = try TemporaryFolder()
        try folder.write(pattern(1_000_000), to: "from")
        let request = Request<Bytes>(server.url("/"), method: .put, body: .file(folder.file("from")))
        let response = try await Agent().download(request, to: folder.file("to"), options: .init(isResumable: false))
        #expect(response.value.byteCount == 1_000_000)
        expectPattern(folder.contents(of: "to"), 1_000_000)
    }

    /// Two calls save to each name. The file is one of the two bodies, complete.
    @Test func manyFilesAreSavedConcurrently() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 500_000))
        let folder = try TemporaryFolder()
        let agent = Agent()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<20 {
                group.addTask {
                    _ = try await agent.download(
                        Request<Bytes>(server.url("/")), to: folder.file("\(index % 10)"),
                        options: .init(isResumable: false))
                }
            }
            try await group.waitForAll()
        }
        #expect(folder.names == (0..<10).map { "\($0)" })
        for name in folder.names {
            expectPattern(folder.contents(of: name), 500_000)
        }
    }
}
