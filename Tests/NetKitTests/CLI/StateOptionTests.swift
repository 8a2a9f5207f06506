import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Files that `nk` reads again: cookies, a cache, partial files of downloads. It refuses those that other users could
/// have written.
@Suite(.timeLimit(.minutes(5)))
struct StateOptionTests {
    private let server: LoopbackServer
    private let folder: TemporaryTree

    init() throws {
        server = try LoopbackServer()
        folder = try TemporaryTree()
        server.script("/", Reply(body: Array("body".utf8)))
    }

    private func write(_ text: String, to name: String, mode: mode_t = 0o600) {
        let descriptor = unsafe open(folder.file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let bytes = Array(text.utf8)
        #expect(unsafe Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
        fchmod(descriptor, mode)
        close(descriptor)
    }

    private func chmod(_ name: String, _ mode: mode_t) {
        #expect(unsafe Glibc.chmod(folder.file(name), mode) == 0)
    }

    private static let cookie = "127.0.0.1\tFALSE\t/\tFALSE\t0\tplanted\t1\n"

    @Test func jarWritableByOthersIsRefused() async throws {
        let jar = folder.file("jar")
        write(Self.cookie, to: "jar", mode: 0o666)
        let outcome = try await nk("-b", jar, "-c", jar, server.url("/"))
        #expect(outcome.code == 26 && outcome.errors.contains("chmod go-w") && outcome.errors.contains(jar))
        #expect(server.requestCount == 0)
        chmod("jar", 0o644)
        #expect(try await nk("-b", jar, "-c", jar, server.url("/")).code == 0)
        #expect(server.received().values(named: "Cookie") == ["planted=1"])
    }

    @Test func jarBehindALinkOrInAWritableFolderIsRefused() async throws {
        write(Self.cookie, to: "real")
        #expect(unsafe symlink(folder.file("real"), folder.file("jar")) == 0)
        let linked = try await nk("-b", folder.file("jar"), "-c", folder.file("jar"), server.url("/"))
        #expect(linked.code == 26 && linked.errors.contains("symbolic link"))
        chmod("", 0o777)
        let open = try await nk("-b", folder.file("real"), "-c", folder.file("real"), server.url("/"))
        #expect(open.code == 26 && open.errors.contains("chmod go-w"))
        #expect(server.requestCount == 0)
        chmod("", 0o700)
    }

    /// As with curl, a file that the user names as input is not state.
    @Test func readOnlyCookiesCanComeFromAnyFile() async throws {
        write(Self.cookie, to: "input", mode: 0o666)
        let outcome = try await nk("-b", folder.file("input"), "-c", folder.file("jar"), server.url("/"))
        #expect(outcome.code == 0 && server.received().values(named: "Cookie") == ["planted=1"])
        #expect(try await nk("-b", "/dev/null", "-c", "/dev/null", server.url("/")).code == 0)
    }

    @Test func aMissingJarIsEmpty() async throws {
        let jar = folder.file("jar")
        #expect(try await nk("-b", jar, "-c", jar, server.url("/")).code == 0)
        var info = stat()
        #expect(unsafe stat(jar, &info) == 0 && info.st_mode & 0o777 == 0o600)
        #expect(try await nk("-b", jar, "-c", jar, server.url("/")).code == 0)
    }

    @Test func cacheWritableByOthersIsNotRead() async throws {
        let cache = folder.file("cache")
        server.script("/", [.text("1"), .text("2"), .text("3")])
        let words = ["-sS", "--cache", "99", "--cache-dir", cache, server.url("/")]
        #expect(try await nk(words).text == "1")
        #expect(try await nk(words).text == "1")
        chmod("cache", 0o777)
        let outcome = try await nk(words)
        #expect(outcome.code == 26 && outcome.text.isEmpty && server.requestCount == 1)
        #expect(outcome.errors.contains("chmod go-w") && outcome.errors.contains(cache))
        chmod("cache", 0o700)
    }

    @Test func partialDownloadsInAFolderWritableByOthersAreIgnored() async throws {
        let path = folder.file("file")
        let headers = ["ETag: \"v1\""]
        server.script(
            "/file",
            [
                Reply(headers: headers, patternLength: 20000, cutAfter: 9000, ending: .close),
                Reply(headers: headers, patternLength: 20000, answersRanges: true),
            ])
        #expect(try await nk("-sS", "-C", "-", "-o", path, server.url("/file")).code == 18)
        chmod("", 0o777)
        let direct = try await nk("-sS", "-C", "-", "-o", path, server.url("/file"))
        #expect(direct.code == 23 && direct.errors.contains("chmod go-w"))
        let all = try await nk("downloads", "resume", folder.file(""), "-H", "Authorization: Bearer x")
        #expect(all.code == 23 && all.errors.contains("chmod go-w"))
        #expect(try await nk("downloads", "list", folder.file("")).code == 23)
        #expect(server.requestCount == 1)
        chmod("", 0o1777)
        #expect(try await nk("-sS", "-C", "-", "-o", path, server.url("/file")).code == 0)
        #expect(server.requestCount == 2)
    }
}
