import NetKit
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Bodies that are written to an output of the caller.
@Suite(.timeLimit(.minutes(5)))
struct BodyOutputTests {
    private let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    @Test func bodyIsWrittenToItsOutputInPieces() async throws {
        stub.register("/", with: StubReply(headers: ["X-A": "b"], body: [.text("one, "), .text("two")]))
        let bufferingOutput = BufferingOutput()
        let response = try await agent.send(Request<String>("/").writing(to: bufferingOutput))
        #expect(response.status == 200 && response.headers["X-A"] == "b" && response.bytes.isEmpty)
        #expect(bufferingOutput.text == "one, two" && bufferingOutput.log == ["whole"])
    }

    @Test func bodyFromACacheIsMarked() async throws {
        let fixture = CacheFixture(.app(5000))
        fixture.stub.register("/", with: .json("1"), .json("2"))
        #expect(try await fixture.agent.send(Request<Int>("/")).isFromCache == false)
        let bufferingOutput = BufferingOutput()
        // A request for a JSON value sends this field, which is part of the cache key.
        let raw = Request<Void>("/", headers: ["Accept": "application/json"])
        let written = try await fixture.agent.send(raw.writing(to: bufferingOutput))
        #expect(written.source == .cache && written.cache?.isHit == true && bufferingOutput.text == "1")
        let held = fixture.agent.start(Request<Int>("/"), on: .here, options: .init(pausing: .releasingConnection))
        #expect(try await held.value.isFromCache)
    }

    @Test func requestTaskWritesToTheOutput() async throws {
        stub.register("/", with: .text("body"))
        let bufferingOutput = BufferingOutput()
        let handle = agent.start(Request<String>("/").writing(to: bufferingOutput), on: .here)
        #expect(try await handle.value.status == 200)
        #expect(bufferingOutput.text == "body")
        let listed = BufferingOutput()
        var request = Request<Void>("/").writing(to: listed)
        request.tag = 4
        _ = try await agent.send(Batch([request]))
        #expect(listed.text == "body")
    }

    @Test func otherStatusWritesNothing() async throws {
        stub.register("/", with: .text("not here", status: 404))
        let bufferingOutput = BufferingOutput()
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: bufferingOutput))
        }
        #expect(error?.code == .status && error?.response?.bytes.text == "not here")
        #expect(bufferingOutput.text.isEmpty && bufferingOutput.log == [])
    }

    @Test func otherContentTypeWritesNothing() async throws {
        stub.register("/", with: .text("<html>", contentType: "text/html"))
        let bufferingOutput = BufferingOutput()
        var pdfRequest = Request<Void>("/")
        pdfRequest.acceptedTypes = ["application/pdf"]
        let request = pdfRequest.writing(to: bufferingOutput)
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .contentType && error?.response?.bytes.text == "<html>")
        #expect(bufferingOutput.text.isEmpty)
    }

    @Test(
        arguments: [
            (#"{"id": 1}"#, nil), (#"{"id": "#, .badJSON), ("", .badJSON), (#"{"id": "1"}"#, .shapeMismatch),
        ] as [(String, NetError.Code?)])
    func bodyIsCheckedBeforeItIsWritten(text: String, code: NetError.Code?) async throws {
        let pieces = [StubReply.Step.text(String(text.prefix(4))), .text(String(text.dropFirst(4)))]
        stub.register("/", with: StubReply(headers: ["Content-Type": "application/json"], body: pieces))
        let bufferingOutput = BufferingOutput()
        let request = Request<Void>("/").expecting(["id": .integer]).writing(to: bufferingOutput)
        guard let code else {
            #expect(try await agent.send(request).status == 200)
            #expect(bufferingOutput.text == text && bufferingOutput.log == ["whole"])
            return
        }
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == code && error?.jsonFaults.count == 1 && error?.response?.status == 200)
        #expect(bufferingOutput.log == [])
    }

    @Test func failingOutputEndsTheRequest() async throws {
        stub.register("/", with: StubReply(body: [.text("12345"), .text("67890")]))
        let bufferingOutput = BufferingOutput(maxBytes: 7)
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: bufferingOutput))
        }
        #expect(error?.code == .stoppedByCaller && error?.underlying is BufferingOutput.Full)
        #expect(bufferingOutput.text == "12345" && bufferingOutput.log == [])
        let handle = agent.start(Request<Void>("/").writing(to: bufferingOutput), on: .here)
        #expect(failureCode(of: await handle.result) == .stoppedByCaller)
    }

    @Test func truncatedBodyIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, cutAfter: 600, ending: .close))
        let bufferingOutput = BufferingOutput()
        let error = await #expect(throws: NetError.self) {
            try await Agent().send(Request<Void>(server.url("/")).writing(to: bufferingOutput))
        }
        #expect(error?.code == .cutShort && bufferingOutput.log == [])
    }

    // MARK: Descriptors

    /// Opens a file in a directory.
    private func opened(_ folder: TemporaryFolder, _ name: String, _ flags: Int32 = O_RDWR | O_CREAT) throws -> Int32 {
        let descriptor = unsafe open(folder.file(name), flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure(call: "open") }
        return descriptor
    }

    @Test func bodyIsWrittenFromTheOffsetOfTheFile() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let folder = try TemporaryFolder()
        try folder.write(Array("head".utf8), to: "f")
        let descriptor = try opened(folder, "f")
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_END)
        _ = try await Agent().send(Request<Void>(server.url("/")).writing(to: DescriptorOutput(descriptor)))
        #expect(folder.contents(of: "f") == Array("head".utf8) + pattern(3_000_000))
    }

    @Test func restartedOutputReturnsToItsFirstOffset() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("head".utf8), to: "f")
        let descriptor = try opened(folder, "f")
        defer { close(descriptor) }
        lseek(descriptor, 0, SEEK_END)
        let output = DescriptorOutput(descriptor)
        try await output.write(Bytes(Array("a long first try".utf8)))
        try await output.startOver()
        try await output.write(Bytes(Array("er".utf8)))
        #expect(folder.contents(of: "f") == Array("header".utf8))
    }

    @Test func unwritableDescriptorEndsTheRequest() async throws {
        stub.register("/", with: .text("body"))
        let folder = try TemporaryFolder()
        try folder.write([], to: "f")
        let descriptor = try opened(folder, "f", O_RDONLY)
        defer { close(descriptor) }
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: DescriptorOutput(descriptor)))
        }
        #expect(error?.code == .file && error?.nativeCode == Int(EBADF))
    }

    /// The descriptor is -1, as a failed open() returns it.
    @Test func invalidDescriptorEndsTheRequestImmediately() async throws {
        stub.register("/", with: .text("body"))
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: DescriptorOutput(-1)))
        }
        #expect(error?.code == .file && error?.nativeCode == Int(EBADF))
    }

    #if os(Linux)
    @Test func fullDiskEndsTheRequest() async throws {
        stub.register("/", with: .text("body"))
        let descriptor = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: DescriptorOutput(descriptor)))
        }
        #expect(error?.code == .file && error?.nativeCode == Int(ENOSPC))
    }

    /// Runs in a child process with the default action for SIGPIPE, which would end it.
    @Test func pipeWithoutAReaderFailsWithoutASignal() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { exit(2) }
            close(ends[0])
            let stub = StubTransport()
            stub.register("*", with: .text("body"))
            do {
                _ = try await Agent(transport: stub).send(
                    Request<Void>("http://stub/").writing(to: DescriptorOutput(ends[1])))
                exit(3)
            } catch let error as NetError {
                exit(error.code == .file && error.nativeCode == Int(EPIPE) ? 0 : 4)
            }
        }
    }
    #endif

    /// Returns a pipe's two ends.
    private func piped() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw SystemFailure(call: "pipe") }
        return (ends[0], ends[1])
    }

    @Test func outputWaitsForTheReaderOfAPipe() async throws {
        stub.register("/", with: .bytes(Bytes(pattern(200_000))))
        let (reading, writing) = try piped()
        defer { close(reading) }
        async let response = agent.send(Request<Void>("/").writing(to: DescriptorOutput(writing)))
        var read: [UInt8] = []
        var room = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while read.count < 200_000 {
            // A blocking read would hold a thread of the pool that the writer needs.
            while unsafe poll(&room, 1, 0) == 0 {
                await Task.yield()
            }
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                count = unsafe max(0, Glibc.read(reading, buffer.baseAddress, 4096))
            }
            try #require(!piece.isEmpty)
            read += piece
        }
        _ = try await response
        close(writing)
        #expect(read == pattern(200_000))
    }

    @Test func requestThatWritesToAFullPipeCanBeCancelled() async throws {
        stub.register("/", with: .bytes(Bytes(pattern(1_000_000))))
        let (reading, writing) = try piped()
        defer {
            close(reading)
            close(writing)
        }
        let handle = agent.start(Request<Void>("/").writing(to: DescriptorOutput(writing)), on: .here)
        var room = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&room, 1, 0) == 0 {
            await Task.yield()
        }
        handle.cancel()
        #expect(failureCode(of: await handle.result) == .cancelled)
    }

    @Test func pipeCannotBeRestarted() async throws {
        let (reading, writing) = try piped()
        defer {
            close(reading)
            close(writing)
        }
        let error = await #expect(throws: NetError.self) { try await DescriptorOutput(writing).startOver() }
        #expect(error?.code == .notRewindable)
    }
}
