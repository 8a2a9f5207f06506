import NetKit
import NetKitTesting
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Downloads over a transport without download support, such as a stub.
struct SavedDownloadTests {
    private let folder: TemporaryFolder
    private let stub = StubTransport()
    private let request = Request<Bytes>("http://stub/film.mkv")

    init() throws {
        folder = try TemporaryFolder()
        stub.register("*", with: .text("content"))
    }

    /// Returns the error of a download into the directory, or `nil` if it succeeds.
    private func failure(
        to name: String, _ change: (inout DownloadOptions) -> Void = { _ in }
    ) async -> NetError? {
        var options = DownloadOptions()
        change(&options)
        do throws(NetError) {
            _ = try await Agent(transport: stub).download(request, to: folder.file(name), options: options)
            return nil
        } catch {
            return error
        }
    }

    @Test func fileWithTheWrongDigestIsNotSaved() async {
        let sha256 = await failure(to: "film.mkv") { $0.checksums = [.sha256(String(repeating: "01", count: 32))] }
        #expect(sha256?.code == .digestMismatch)
        let md5 = Checksum.md5(String(repeating: "01", count: 16))
        #expect(await failure(to: "film.mkv") { $0.checksums = [md5] }?.code == .digestMismatch)
        for wrong in [[.md5("01")], [md5, md5], [.md5(String(repeating: "g", count: 32))]] as [[Checksum]] {
            #expect(await failure(to: "film.mkv") { $0.checksums = wrong }?.code == .usage)
        }
        #expect(folder.names == [])
    }

    @Test func fileWithTheRightDigestReplacesTheOldOne() async throws {
        try folder.write([1], to: "film.mkv")
        var options = DownloadOptions()
        options.checksums = [.sha256(try Digest.of(Bytes(Array("content".utf8)), .sha256).hexText)]
        let saved = try await Agent(transport: stub).download(request, to: folder.file("film.mkv"), options: options)
        #expect(saved.value.path == folder.file("film.mkv") && saved.value.byteCount == 7)
        #expect(folder.contents(of: "film.mkv") == Array("content".utf8))
        #expect(folder.names == ["film.mkv"])
    }

    @Test func destinationIsChosenFromTheResponseHead() async throws {
        let destinationPath = folder.file("other.mkv")
        let saved = try await Agent(transport: stub).download(
            request, to: folder.path,
            destination: { head in head.headers["Content-Type"]?.hasPrefix("text/plain") == true ? destinationPath : nil
            })
        #expect(saved.value.path == destinationPath)
        #expect(folder.names == ["other.mkv"])
    }

    @Test func existingFileIsNotReplacedWhenItMustBeKept() async throws {
        try folder.write([1], to: "film.mkv")
        #expect(await failure(to: "film.mkv") { $0.overwrite = false }?.code == .file)
        #expect(folder.contents(of: "film.mkv") == [1])
        #expect(stub.requests.isEmpty)
    }

    @Test(arguments: ["", "none/"])
    func folderIsNotReplacedByAFile(name: String) async {
        #expect(await failure(to: name)?.code == .usage)
        #expect(folder.names == [] && stub.requests.isEmpty)
    }

    @Test func anErrorPageIsNotSaved() async {
        stub.register("/film.mkv", with: .json("{}", status: 404))
        let error = await failure(to: "film.mkv")
        #expect(error?.code == .status && error?.response?.bytes.count == 2)
        #expect(folder.names == [])
    }

    @Test func aPipeIsNotReplaced() async throws {
        let pipe = folder.file("pipe")
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        let error = await failure(to: "pipe")
        #expect(error?.code == .file && error?.nativeCode == Int(ESPIPE) && stub.requests.isEmpty)
        let film = folder.file("film.mkv")
        let late = await #expect(throws: NetError.self) {
            try await Agent(transport: stub).download(request, to: film, destination: { _ in pipe })
        }
        #expect(late?.nativeCode == Int(ESPIPE))
        var info = stat()
        #expect(unsafe stat(pipe, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO)
        #expect(folder.names == ["pipe"])
    }
}
