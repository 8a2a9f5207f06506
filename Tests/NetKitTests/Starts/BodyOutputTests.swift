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

    @Test func aBodyGoesToItsOutputPieceByPiece() async throws {
        stub.answer("/", with: StubReply(headers: ["X-A": "b"], body: [.text("one, "), .text("two")]))
        let shelf = Shelf()
        let response = try await agent.send(Request<String>("/").writing(to: shelf))
        #expect(response.status == 200 && response.headers["X-A"] == "b" && response.bytes.isEmpty)
        #expect(shelf.text == "one, two" && shelf.log == ["whole"])
    }

    @Test func whatComesFromACacheSaysSo() async throws {
        let scene = CacheScene(.app(50))
        scene.stub.answer("/", with: .json("1"), .json("2"))
        #expect(try await scene.agent.send(Request<Int>("/")).isFromCache == false)
        let shelf = Shelf()
        let written = try await scene.agent.send(Request<Void>("/").writing(to: shelf))
        #expect(written.source == .cache && written.cache?.isHit == true && shelf.text == "1")
        let held = scene.agent.start(Request<Int>("/"), on: .here, options: .init(pausing: .lettingGo))
        #expect(try await held.value.isFromCache)
    }

    @Test func aStartWritesToo() async throws {
        stub.answer("/", with: .text("body"))
        let shelf = Shelf()
        let handle = agent.start(Request<String>("/").writing(to: shelf), on: .here)
        #expect(try await handle.value.status == 200)
        #expect(shelf.text == "body")
        let listed = Shelf()
        var request = Request<Void>("/").writing(to: listed)
        request.tag = 4
        _ = try await agent.send(Batch([request]))
        #expect(listed.text == "body")
    }

    @Test func ofAnotherStatusNothingIsWritten() async throws {
        stub.answer("/", with: .text("not here", status: 404))
        let shelf = Shelf()
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: shelf))
        }
        #expect(error?.code == .unacceptableStatus && error?.response?.bytes.text == "not here")
        #expect(shelf.text.isEmpty && shelf.log == [])
    }

    @Test func ofAnotherTypeNothingIsWritten() async throws {
        stub.answer("/", with: .text("<html>", contentType: "text/html"))
        let shelf = Shelf()
        var asked = Request<Void>("/")
        asked.acceptedTypes = ["application/pdf"]
        let request = asked.writing(to: shelf)
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .unacceptableType && error?.response?.bytes.text == "<html>")
        #expect(shelf.text.isEmpty)
    }

    @Test(
        arguments: [
            (#"{"id": 1}"#, nil), (#"{"id": "#, .badJSON), ("", .badJSON), (#"{"id": "1"}"#, .shapeMismatch),
        ] as [(String, NetError.Code?)])
    func aBodyIsCheckedOnItsWayToItsOutput(text: String, code: NetError.Code?) async throws {
        let pieces = [StubReply.Step.text(String(text.prefix(4))), .text(String(text.dropFirst(4)))]
        stub.answer("/", with: StubReply(headers: ["Content-Type": "application/json"], body: pieces))
        let shelf = Shelf()
        let request = Request<Void>("/").expecting(["id": .integer]).writing(to: shelf)
        guard let code else {
            #expect(try await agent.send(request).status == 200)
            #expect(shelf.text == text && shelf.log == ["whole"])
            return
        }
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == code && error?.jsonFaults.count == 1 && error?.response?.status == 200)
        #expect(shelf.log == [])
    }

    @Test func anOutputThatFailsEndsTheRequest() async throws {
        stub.answer("/", with: StubReply(body: [.text("12345"), .text("67890")]))
        let shelf = Shelf(maxBytes: 7)
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: shelf))
        }
        #expect(error?.code == .stoppedByCaller && error?.underlying is Shelf.Full)
        #expect(shelf.text == "12345" && shelf.log == [])
        let handle = agent.start(Request<Void>("/").writing(to: shelf), on: .here)
        #expect(failureCode(of: await handle.result) == .stoppedByCaller)
    }

    @Test func aBodyThatIsCutShortIsNotWhole() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1000, cutAfter: 600, ending: .close))
        let shelf = Shelf()
        let error = await #expect(throws: NetError.self) {
            try await Agent().send(Request<Void>(server.url("/")).writing(to: shelf))
        }
        #expect(error?.code == .cutShort && shelf.log == [])
    }

    // MARK: Descriptors

    /// Opens a file in a directory.
    private func opened(_ folder: TemporaryFolder, _ name: String, _ flags: Int32 = O_RDWR | O_CREAT) throws -> Int32 {
        let descriptor = unsafe open(folder.file(name), flags | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure(call: "open") }
        return descriptor
    }

    @Test func aBodyGoesToAFileFromItsOffsetOn() async throws {
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

    @Test func aFileBeginsAnewWhereItBegan() async throws {
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

    @Test func aDescriptorThatCannotBeWrittenEndsTheRequest() async throws {
        stub.answer("/", with: .text("body"))
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
    @Test func aDescriptorThatIsNoneEndsTheRequestAtOnce() async throws {
        stub.answer("/", with: .text("body"))
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: DescriptorOutput(-1)))
        }
        #expect(error?.code == .file && error?.nativeCode == Int(EBADF))
    }

    #if os(Linux)
    @Test func aFullDiskEndsTheRequest() async throws {
        stub.answer("/", with: .text("body"))
        let descriptor = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let error = await #expect(throws: NetError.self) {
            try await agent.send(Request<Void>("/").writing(to: DescriptorOutput(descriptor)))
        }
        #expect(error?.code == .file && error?.nativeCode == Int(ENOSPC))
    }

    /// Runs in a child process with the default action for SIGPIPE, which would end it.
    @Test func aPipeWithoutAReaderIsAnErrorAndNoSignal() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            guard unsafe pipe(&ends) == 0 else { exit(2) }
            close(ends[0])
            let stub = StubTransport()
            stub.answer("*", with: .text("body"))
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

    @Test func aPipesReaderIsWaitedFor() async throws {
        stub.answer("/", with: .bytes(Bytes(pattern(200_000))))
        let (reading, writing) = try piped()
        defer { close(reading) }
        async let response = agent.send(Request<Void>("/").writing(to: DescriptorOutput(writing)))
        var read: [UInt8] = []
        while read.count < 200_000 {
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

    @Test func aRequestThatWritesToAFullPipeIsCancelled() async throws {
        stub.answer("/", with: .bytes(Bytes(pattern(1_000_000))))
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

    @Test func aPipeCannotBeginAnew() async throws {
        let (reading, writing) = try piped()
        defer {
            close(reading)
            close(writing)
        }
        let error = await #expect(throws: NetError.self) { try await DescriptorOutput(writing).startOver() }
        #expect(error?.code == .notRewindable)
    }
}
