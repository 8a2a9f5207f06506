import FoundationEssentials
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import NetKit
import Testing

@testable import NetKitCLI

/// A running server of `nk`, which ends with the test.
struct Served {
    let run: RequestTask
    /// The URL without its last slash.
    let url: String

    init(_ arguments: [String]) async throws {
        run = try start(arguments)
        url = String(try #require(await run.firstLine()).dropLast())
    }

    /// Ends the process and returns its output.
    func ended(by signal: Int32 = SIGTERMNumber) async -> Outcome {
        run.send(signal)
        return await run.ended()
    }
}

/// `nk serve`: serves the files of a directory, and nothing else.
@Suite(.timeLimit(.minutes(5)))
struct ServeCommandTests {
    private let agent = Agent(configured: { $0.userAgent = nil })

    private func response(
        _ url: String, _ headers: Headers = [:], _ method: NetKit.Method = .get
    ) async throws -> Response<Bytes> {
        var request = Request<Bytes>(url, method: method)
        request.headers = headers
        request.acceptedStatuses = .any
        request.keepsDotSegments = true
        request.redirects = .return
        return try await agent.send(request)
    }

    @Test func echoSendsBodiesBack() async throws {
        let server = try await Served(["serve", "--echo"])
        let outcome = try await nk("-d", "x=1", "-w", "|%{content_type}", "\(server.url)/a?b=c")
        #expect(outcome.text == "x=1|application/x-www-form-urlencoded")
        #expect(await server.ended().errorLines == ["200 POST /a?b=c 3"])
        #expect(try await nk("serve", "--echo", "folder").code == 2)
    }

    @Test func filesOfAFolderAreServedUntilASignalArrives() async throws {
        let folder = try TemporaryFolder()
        try folder.write(Array("0123456789".utf8), to: "digits.txt")
        try folder.write(Array("<p>".utf8), to: "a & b.html")
        for signal in [SIGINTNumber, SIGTERMNumber] {
            let server = try await Served(["serve", folder.path])
            let whole = try await response("\(server.url)/digits.txt")
            #expect(whole.status == 200 && whole.value == Bytes(Array("0123456789".utf8)))
            #expect(whole.headers["Content-Type"] == "text/plain" && whole.headers["Accept-Ranges"] == "bytes")
            let head = try await response("\(server.url)/digits.txt", [:], .head)
            #expect(head.headers["Content-Length"] == "10" && head.value.count == 0)
            let part = try await response("\(server.url)/digits.txt", ["Range": "bytes=2-4"])
            #expect(part.status == 206 && part.value == Bytes(Array("234".utf8)))
            #expect(part.headers["Content-Range"] == "bytes 2-4/10")
            let tag = try #require(whole.headers["ETag"])
            #expect(try await response("\(server.url)/digits.txt", ["If-None-Match": tag]).status == 304)
            let list = try await response(server.url + "/")
            #expect(
                String(decoding: list.value, as: UTF8.self).contains(#"<a href="./a%20%26%20b.html">a &amp; b.html"#))
            #expect(try await response("\(server.url)/digits.txt", [:], .post).status == 405)
            let outcome = await server.ended(by: signal)
            #expect(outcome.code == 0)
            #expect(outcome.errorLines.first == "200 GET /digits.txt 10")
            #expect(outcome.errorLines.count == 6)
        }
        await agent.shutdown()
    }

    @Test(arguments: [
        "/../secret", "/%2e%2e/secret", "/in/../../secret", "/..%2fsecret", "/link", "/up/secret", "/up/",
        "//../secret",
        "/./../secret", "/in%00", "/%zz", "/%", "/digits/", "/served/digits",
    ])
    func nothingBeyondTheFolderIsServed(path: String) async throws {
        let tree = try TemporaryTree()
        let files = FileManager.default
        try files.createDirectory(atPath: tree.file("served"), withIntermediateDirectories: false)
        try Data("secret".utf8).write(to: URL(filePath: tree.file("secret")))
        try Data("1".utf8).write(to: URL(filePath: tree.file("served/digits")))
        try files.createSymbolicLink(atPath: tree.file("served/link"), withDestinationPath: tree.file("secret"))
        try files.createSymbolicLink(atPath: tree.file("served/up"), withDestinationPath: "..")
        let server = try await Served(["serve", "--silent", tree.file("served")])
        let response = try await response(server.url + path)
        #expect([400, 404].contains(response.status))
        #expect(response.value != Bytes(Array("secret".utf8)))
        let outcome = await server.ended()
        #expect(outcome.code == 0 && outcome.errors == "")
        await agent.shutdown()
    }

    /// The two Unicode spellings of "é" (one code point or two) are equal as Swift strings. On the file system they
    /// name two directories.
    @Test func folderWithADifferentNormalizationIsDistinct() async throws {
        let tree = try TemporaryTree()
        let files = FileManager.default
        let (served, other) = (tree.file("caf\u{E9}"), tree.file("cafe\u{301}"))
        for folder in [served, other] {
            try files.createDirectory(atPath: folder, withIntermediateDirectories: false)
        }
        try Data("secret".utf8).write(to: URL(filePath: other + "/secret"))
        try Data("mark".utf8).write(to: URL(filePath: served + "/\u{301}mark"))
        try files.createSymbolicLink(atPath: served + "/link", withDestinationPath: other + "/secret")
        let server = try await Served(["serve", "--silent", served])
        #expect(try await response(server.url + "/link").status == 404)
        #expect(try await response(server.url + "/%CC%81mark").value == Bytes(Array("mark".utf8)))
        #expect(await server.ended().code == 0)
        await agent.shutdown()
    }

    @Test(arguments: ["/", "/a", "/nothing"])
    func everyResponseHasADate(path: String) async throws {
        let tree = try TemporaryTree()
        try Data("text".utf8).write(to: URL(filePath: tree.file("a")))
        let server = try await Served(["serve", "--silent", tree.path])
        let before = Int64(Date().timeIntervalSince1970)
        let response = try await response(server.url + path)
        let reportedSeconds = try #require(response.headers["Date"].flatMap { HTTPDate.epochSeconds(of: $0) })
        #expect((before...Int64(Date().timeIntervalSince1970)).contains(reportedSeconds))
        #expect(await server.ended().code == 0)
        await agent.shutdown()
    }

    /// Some file systems cannot store such years and keep the last one that they support.
    @Test(arguments: [10_413_792_000, 1_000_000_000_000, -50_000_000_000, -100_000_000_000])
    func fileWithAFarModificationDateIsServedAndListed(seconds: Int) async throws {
        let tree = try TemporaryTree(in: Self.roomForAnyYear)
        try Data("old".utf8).write(to: URL(filePath: tree.file("old")))
        var times = [timespec(tv_sec: seconds, tv_nsec: 5), timespec(tv_sec: seconds, tv_nsec: 5)]
        try #require(unsafe utimensat(AT_FDCWD, tree.file("old"), &times, 0) == 0)
        var status = stat()
        try #require(unsafe stat(tree.file("old"), &status) == 0)
        let server = try await Served(["serve", "--silent", tree.path])
        let response = try await response("\(server.url)/old")
        #expect(response.status == 200 && response.value == Bytes(Array("old".utf8)) && response.headers["ETag"] != nil)
        let date = response.headers["Last-Modified"].flatMap { HTTPDate.epochSeconds(of: $0) }
        #if canImport(Glibc)
        let storedSeconds = Int64(status.st_mtim.tv_sec)
        #else
        let storedSeconds = Int64(status.st_mtimespec.tv_sec)
        #endif
        #expect(date == ((-62_135_596_800...253_402_300_799).contains(storedSeconds) ? storedSeconds : nil))
        let list = try await self.response(server.url + "/")
        #expect(String(decoding: list.value, as: UTF8.self).contains(#"<a href="./old">"#))
        #expect(await server.ended().code == 0)
        await agent.shutdown()
    }

    /// A file system in memory stores any time. Most file systems on disk do not.
    private static var roomForAnyYear: String {
        FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    }

    @Test(arguments: [
        (["serve", "--port", "x"], 2, "--port 'x'"), (["serve", "--port", "65536"], 2, "'65536'"),
        (["serve", "--bind", "nohost"], 2, "nohost"), (["serve", "--nope"], 2, "unknown option --nope"),
        (["serve", "a", "b"], 2, "'b'"), (["serve", "/nothing/here"], 26, "/nothing/here"),
        (["serve", "/dev/null"], 26, "Not a directory"), (["serve", "--port"], 2, "needs a value"),
    ])
    func unservableFolderPrintsOneLine(words: [String], code: Int32, offender: String) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == code && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }
}

/// Conditional requests (RFC 9110).
struct FileConditionsTests {
    private let conditions = FileConditions(tag: "\"v1\"", modified: 784_111_777, length: 10)
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let earlier = "Sun, 06 Nov 1994 08:49:36 GMT"

    @Test(arguments: [
        ("bytes=0-0", FileConditions.Outcome.part(first: 0, length: 1)), ("bytes=2-", .part(first: 2, length: 8)),
        ("bytes=-3", .part(first: 7, length: 3)), ("bytes=-30", .part(first: 0, length: 10)),
        ("bytes=5-99", .part(first: 5, length: 5)), ("Bytes=5-5", .part(first: 5, length: 1)),
        ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=3-2", .whole), ("bytes=0-1,3-4", .whole),
        ("lines=0-1", .whole), ("bytes=a-b", .whole), ("bytes=-", .whole), ("bytes=+1-2", .whole),
        ("bytes=9999999999999999999-", .whole), ("bytes=", .whole),
    ])
    func rangeIsAppliedOrIgnored(range: String, outcome: FileConditions.Outcome) {
        #expect(conditions.outcome(["Range": range], isGet: true) == outcome)
        #expect(conditions.outcome(["Range": range], isGet: false) == .whole)
    }

    @Test(arguments: [
        (["If-None-Match": "\"v1\""], FileConditions.Outcome.notModified),
        (["If-None-Match": "W/\"v1\""], .notModified),
        (["If-None-Match": "\"v0\" , \"v1\""], .notModified), (["If-None-Match": "*"], .notModified),
        (["If-None-Match": "\"v0\"", "If-Modified-Since": date], .whole), (["If-Modified-Since": date], .notModified),
        (["If-Modified-Since": earlier], .whole), (["If-Modified-Since": "soon"], .whole),
        (["If-Match": "\"v1\""], .whole), (["If-Match": "W/\"v1\""], .preconditionFailed), (["If-Match": "*"], .whole),
        (["If-Match": "\"v0\""], .preconditionFailed), (["If-Unmodified-Since": earlier], .preconditionFailed),
        (["If-Unmodified-Since": date], .whole), (["If-Match": "\"v1\"", "If-Unmodified-Since": earlier], .whole),
        (["Range": "bytes=1-2", "If-Range": "\"v1\""], .part(first: 1, length: 2)),
        (["Range": "bytes=1-2", "If-Range": "W/\"v1\""], .whole),
        (["Range": "bytes=1-2", "If-Range": earlier], .whole),
        (["Range": "bytes=1-2", "If-Range": date], .part(first: 1, length: 2)),
        (["Range": "bytes=1-2", "If-None-Match": "\"v1\""], .notModified),
    ])
    func conditionsAreEvaluatedInOrder(fields: [String: String], outcome: FileConditions.Outcome) {
        let headers = Headers(fields.map { .init(name: $0.key, value: $0.value) })
        #expect(conditions.outcome(headers, isGet: true) == outcome)
    }

    @Test func anEmptyFileHasNoRanges() {
        let empty = FileConditions(tag: "\"\"", modified: 0, length: 0)
        #expect(empty.outcome(["Range": "bytes=0-0"], isGet: true) == .unsatisfiable)
        #expect(empty.outcome(["Range": "bytes=-1"], isGet: true) == .unsatisfiable)
        #expect(empty.outcome([:], isGet: true) == .whole)
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
        (-62_135_596_800, "Mon, 01 Jan 0001 00:00:00 GMT"),
        (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
    func dateRoundTrips(seconds: Int64, text: String) {
        #expect(HTTPDate.text(ofEpochSeconds: seconds) == text)
        #expect(HTTPDate.epochSeconds(of: text) == seconds)
    }

    @Test(arguments: [
        ("/a/b", ["a", "b"]), ("/", []), ("//a//b/", ["a", "b"]), ("/a/./b", ["a", "b"]), ("/a/../b", ["b"]),
        ("/../../b", ["b"]), ("/%61%2e", ["a."]), ("/%2E%2E/b", ["b"]), ("/%C3%BC", ["ü"]),
    ])
    func pathIsSplitIntoSegments(path: String, parts: [String]) {
        #expect(ServedRequest.segments(of: path) == parts)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%+1", "/a%2Fb", "/a%00", "/%FF"])
    func invalidFileNameIsRefused(path: String) {
        #expect(ServedRequest.segments(of: path) == nil)
    }
}
