import FoundationEssentials
import Testing

/// Downloads from the command line: resumed, checked and named, and the files that remain after failures.
@Suite(.timeLimit(.minutes(5)))
struct DownloadOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryFolder

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryFolder()
    }

    private static let whole = Reply(headers: ["ETag: \"v1\""], patternLength: 20_000, answersRanges: true)
    private static let cut = Reply(
        headers: ["ETag: \"v1\""], patternLength: 20_000, cutAfter: 9_000, ending: .close)

    private var pattern: [UInt8] { (0..<20_000).map { UInt8(97 + $0 % 26) } }

    @Test(arguments: [["-C", "-"], ["-C-"], ["--continue-at", "-"], ["--resume"]])
    func truncatedDownloadIsResumed(words: [String]) async throws {
        server.script("/file", [Self.cut, Self.whole])
        let words = words + ["-o", folder.file("out"), server.url("/file")]
        #expect(try await nk(words).code == 18)
        #expect(folder.names == ["out.part", "out.part.nk"])
        let outcome = try await nk(words)
        #expect(outcome.code == 0 && outcome.errors.hasPrefix("nk: resuming at "))
        #expect(folder.contents(of: "out") == pattern && folder.names == ["out"])
        #expect(server.received(1).values(named: "If-Range") == ["\"v1\""])
    }

    @Test(arguments: [true, false])
    func symbolicLinkIsPreservedAndItsTargetIsWritten(isThere: Bool) async throws {
        server.script("/file", Self.whole)
        if isThere {
            try folder.write([1], to: "real")
        }
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "real")
        #expect(try await nk(["--resume", "-o", folder.file("link"), server.url("/file")]).code == 0)
        #expect(folder.contents(of: "real") == pattern)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == "real")
    }

    @Test func fileGetsTheServersTimeWhenRequested() async throws {
        let fields = ["ETag: \"v1\"", "Last-Modified: Thu, 02 Jan 2020 00:00:00 GMT"]
        server.script("/file", Reply(headers: fields, patternLength: 20_000, answersRanges: true))
        #expect(try await nk(["-R", "--resume", "-o", folder.file("out"), server.url("/file")]).code == 0)
        let date = try FileManager.default.attributesOfItem(atPath: folder.file("out"))[.modificationDate] as? Date
        #expect(date == Date(timeIntervalSince1970: 1_577_923_200))
    }

    @Test func aFileKeepsItsModeWhenItIsReplaced() async throws {
        server.script("/file", Self.whole)
        try folder.write([1], to: "out", mode: 0o640)
        #expect(try await nk(["--resume", "-o", folder.file("out"), server.url("/file")]).code == 0)
        #expect(folder.contents(of: "out") == pattern && folder.mode(of: "out") & 0o7777 == 0o640)
    }

    @Test func directoryUsesTheNameFromTheHeadWithoutOverwriting() async throws {
        server.script("/file", Reply(headers: ["Content-Disposition: inline; filename=../x"], body: Array("a".utf8)))
        let words = ["-o", folder.path + "/", server.url("/file")]
        #expect(try await nk(words).code == 0)
        #expect(folder.contents(of: "x") == Array("a".utf8))
        let again = try await nk(words)
        #expect(again.code == 23 && again.errorLines.count == 1 && again.errors.contains("x"))
        #expect(try await nk(["--clobber"] + words).code == 0)
        #expect(try await nk(["-O", "-J", server.url("/file")], folder: folder.path).code == 23)
        let named = ["-OJ", "--clobber", "-w", "%{filename_effective}", server.url("/file")]
        #expect(try await nk(named, folder: folder.path).text == "x")
        #expect(folder.names == ["x"])
    }

    @Test func digestMismatchFails() async throws {
        server.script("/file", Reply(body: Array("abc".utf8)))
        let right = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let words = ["-o", folder.file("out"), server.url("/file")]
        #expect(try await nk(["--sha256", right] + words).code == 0)
        let wrong = try await nk(["--sha256", String(right.reversed())] + words)
        #expect(wrong.code == 106 && wrong.errors.contains("SHA-256") && wrong.errorLines.count == 1)
        #expect(folder.contents(of: "out") == Array("abc".utf8) && folder.names == ["out"])
    }

    @Test func segmentsAreJoinedIntoOneFile() async throws {
        server.script("/file", Reply(headers: ["ETag: \"v1\""], patternLength: 1_200_000, answersRanges: true))
        #expect(try await nk("--segments", "4", "-o", folder.file("out"), server.url("/file")).code == 0)
        let bytes = folder.contents(of: "out") ?? []
        #expect(bytes.count == 1_200_000 && bytes.indices.allSatisfy { bytes[$0] == UInt8(97 + $0 % 26) })
    }

    @Test func anErrorPageIsNotSaved() async throws {
        server.script("/file", Reply(status: 404, body: Array("no".utf8)))
        let outcome = try await nk("-C", "-", "-o", folder.file("out"), server.url("/file"))
        #expect(outcome.code == 22 && outcome.errors.contains("404"))
        #expect(folder.names == [])
    }

    @Test(arguments: [
        ["-C", "5"], ["--segments", "0"], ["--segments", "17"], ["--segments", "x"], ["--sha256", "abc"],
        ["--md5", "zz"], ["--sha256"], ["-C"],
    ])
    func invalidOptionsExitWith2(words: [String]) async throws {
        let outcome = try await nk(words + (words.count == 1 ? [] : ["-o", folder.file("out"), server.url("/file")]))
        #expect(outcome.code == 2 && outcome.errorLines.count == 1)
    }

    @Test func headsOfDownloadsAreWrittenToStandardOutput() async throws {
        server.script("/file", Reply(headers: ["X-A: 1"], body: Array("abc".utf8)))
        let outcome = try await nk("-D", "-", "-C", "-", "-o", folder.file("out"), server.url("/file"))
        #expect(outcome.code == 0 && outcome.text == "HTTP/1.1 200 \r\nX-A: 1\r\nContent-Length: 3\r\n\r\n")
        server.script("/none", Reply(status: 404))
        let refused = try await nk("-D", "-", "-C", "-", "-o", folder.file("none"), server.url("/none"))
        #expect(refused.code == 22 && refused.lines.first == "HTTP/1.1 404 ")
    }

    @Test func downloadOptionsWithoutADownloadExitWith2() async throws {
        #expect(try await nk("-C", "-", server.url("/file")).code == 2)
        #expect(try await nk("-C", "-", "-d", "x", "-o", folder.file("out"), server.url("/file")).code == 2)
        #expect(server.requestCount == 0)
    }

    @Test func inventoryListsResumesAndRemovesDownloads() async throws {
        server.script("/file", [Self.cut, Self.whole])
        #expect(try await nk("-C", "-", "-o", folder.file("out"), server.url("/file")).code == 18)
        let listed = try await nk("downloads", "list", folder.path)
        let columns = listed.lines.first?.split(separator: "\t").map(String.init) ?? []
        #expect(listed.code == 0 && listed.lines.count == 1 && columns.count == 6)
        #expect(columns.dropFirst().first == "20000" && columns.dropFirst(3).first == "resumable")
        #expect(columns.suffix(2) == [folder.file("out"), server.url("/file")])
        #expect(try await nk("downloads", "purge", folder.path, "--older-than", "1").lines == ["removed 0"])
        let resumed = try await nk("downloads", "resume", folder.path)
        #expect(resumed.code == 0 && resumed.text.hasPrefix(folder.file("out")))
        #expect(folder.contents(of: "out") == pattern && folder.names == ["out"])
        try folder.write([], to: "x.part.nk")
        #expect(try await nk("downloads", "purge", folder.path).lines == ["removed 1"])
        #expect(folder.names == ["out"])
    }

    @Test func unwritableDestinationsHaveOneExitCode() async throws {
        let tree = try TemporaryTree()
        for name in ["parts", "place"] {
            try FileManager.default.createDirectory(atPath: tree.file(name), withIntermediateDirectories: false)
        }
        server.script("/file", [Self.cut, Self.whole, Self.whole])
        let words = ["-C", "-", "--partial-dir", tree.file("parts"), "-o", tree.file("place/out"), server.url("/file")]
        #expect(try await nk(words).code == 18)
        try FileManager.default.removeItem(atPath: tree.file("place"))
        try Data().write(to: URL(filePath: tree.file("place")))
        let resumed = try await nk("downloads", "resume", tree.file("parts"))
        #expect(resumed.code == 23 && resumed.errorLines.count == 1 && resumed.errors.contains("place/out"))
        #expect(try await nk(words).code == 23)
    }

    @Test(arguments: [
        ["downloads"], ["downloads", "eat"], ["downloads", "list"], ["downloads", "list", "a", "b"],
        ["downloads", "purge", "a", "--older-than", "x"], ["downloads", "list", "a", "--segments", "2"],
    ])
    func invalidInventoryExitsWith2(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 2 && outcome.errorLines.count == 1)
    }

    @Test func aMissingDirectoryExitsWith23() async throws {
        let outcome = try await nk("downloads", "list", folder.file("none"))
        #expect(outcome.code == 23 && outcome.errors.contains("none"))
        #expect(try await nk("downloads", "--help").text.contains("purge"))
    }
}
