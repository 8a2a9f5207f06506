#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Dispatch
import NetKit
import Testing

@testable import NetKitCLI

/// Input that `nk` reads into memory has a size limit.
@Suite(.timeLimit(.minutes(5)))
struct InputFileTests {
    @Test(arguments: [
        ["mock", "/dev/zero"], ["run", "/dev/zero"], ["pins", "/dev/zero"],
        ["trust", "--host", "a.example", "--chain", "/dev/zero"], ["-w", "@/dev/zero", "http://127.0.0.1/"],
    ])
    func endlessDocumentPrintsOneLine(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 26 && outcome.bytes == [])
        #expect(outcome.errorLines == ["nk: (26) cannot read /dev/zero: File too large"])
    }

    @Test(arguments: [
        (2, ["validate", "--shape", "/dev/zero", "/dev/null"]),
        (90, ["--pinnedpubkey", "/dev/zero", "https://127.0.0.1/"]),
    ])
    func unreadableRequiredInputHasItsOwnExitCode(code: Int, words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == Int32(code) && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasSuffix(": File too large\n"))
    }

    @Test func nonblockingPipeIsAwaited() async throws {
        var ends: [Int32] = [0, 0]
        try #require(unsafe pipe(&ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let (reader, writer) = (ends[0], ends[1])
        let count = Lock<Int?>(nil)
        DispatchQueue(label: "reader").async {
            var byte: UInt8 = 0
            let read = unsafe systemRead(reader, &byte, 1)
            count.withLock { $0 = read }
        }
        // A read that does not wait for input would have returned long before.
        for _ in 0..<100_000 where count.withLock({ $0 }) == nil {
            sched_yield()
        }
        #expect(count.withLock { $0 } == nil)
        try #require(unsafe write(writer, "x", 1) == 1)
        while count.withLock({ $0 }) == nil {
            sched_yield()
        }
        #expect(count.withLock { $0 } == 1)
        close(reader)
        close(writer)
    }

    @Test(arguments: [["-d", "@PIPE"], ["-H", "@PIPE"], ["--data-urlencode", "a@PIPE"], ["-F", "a=<PIPE"]])
    func readingAPipeEndsAtTheFirstSignal(words: [String]) async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let words = words.map { $0.replacing("PIPE", with: pipe) } + ["http://127.0.0.1/"]
        let arguments = try Arguments.operations(parsing: words)[0]
        let ended = Lock(false)
        // Reading blocks until the writer below closes the pipe. It must not hold one of the cooperative pool's few
        // threads, because the test needs them to continue.
        DispatchQueue(label: "reader").async {
            var arguments = arguments
            try? arguments.readInputs()
            _ = try? TransferRequest(Job(0, of: arguments), of: arguments)
            ended.withLock { $0 = true }
        }
        // open() of a FIFO returns when both ends are open, so the reader has started by then.
        let writer = await withCheckedContinuation { continuation in
            DispatchQueue(label: "writer").async {
                continuation.resume(returning: unsafe open(pipe, O_WRONLY | O_CLOEXEC))
            }
        }
        try #require(writer >= 0)
        #expect(Interrupt.endsImmediately)
        close(writer)
        while !ended.withLock({ $0 }) {
            sched_yield()
        }
    }

    @Test(arguments: [["-T", "-"], ["-F", "a=@-"], ["-d", "@-"]])
    func unreadableInputIsReportedWithItsReason(words: [String]) async throws {
        let server = try LoopbackServer()
        let outcome = try await nk(line: "exec \"$0\" \"$@\" </tmp", words[0], words[1], server.url("/"))
        #expect(outcome.code == 26)
        #expect(outcome.errorLines == ["nk: (26) cannot read standard input: Is a directory"])
    }

    @Test func dataIsLimitedAsInCurl() async throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "large")
        try #require(unsafe truncate(folder.file("large"), off_t(1 << 30) + 1) == 0)
        let outcome = try await nk("-d", "@\(folder.file("large"))", "http://127.0.0.1/")
        #expect(outcome.errorLines == ["nk: (26) cannot read \(folder.file("large")): File too large"])
    }
}
