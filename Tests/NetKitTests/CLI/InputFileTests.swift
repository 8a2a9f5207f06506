#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Testing

/// What `nk` reads whole before it does anything has an end.
@Suite(.timeLimit(.minutes(5)))
struct InputFileTests {
    @Test(arguments: [
        ["mock", "/dev/zero"], ["run", "/dev/zero"], ["pins", "/dev/zero"],
        ["trust", "--host", "a.example", "--chain", "/dev/zero"], ["-w", "@/dev/zero", "http://127.0.0.1/"],
    ])
    func aDocumentWithoutEndIsOneLine(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 26 && outcome.bytes == [])
        #expect(outcome.errorLines == ["nk: (26) cannot read /dev/zero: File too large"])
    }

    @Test(arguments: [
        (2, ["validate", "--shape", "/dev/zero", "/dev/null"]),
        (90, ["--pinnedpubkey", "/dev/zero", "https://127.0.0.1/"]),
    ])
    func whatIsNeededToJudgeHasItsOwnCode(code: Int, words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == Int32(code) && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasSuffix(": File too large\n"))
    }

    @Test func dataHasTheLimitOfCurl() async throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: "large")
        try #require(unsafe truncate(folder.file("large"), off_t(1 << 30) + 1) == 0)
        let outcome = try await nk("-d", "@\(folder.file("large"))", "http://127.0.0.1/")
        #expect(outcome.errorLines == ["nk: (26) cannot read \(folder.file("large")): File too large"])
    }
}
