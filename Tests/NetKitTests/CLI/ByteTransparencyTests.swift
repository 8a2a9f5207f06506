import NetKit
import NetKitTesting
import Testing

/// Header fields in `nk` that are not UTF-8.
@Suite(.timeLimit(.minutes(5)))
struct ByteTransparencyTests {
    private static let gbk: [UInt8] = [0xC4, 0xE3, 0xBA, 0xC3]
    private let server: MockServer
    private let folder: TemporaryFolder

    init() throws {
        server = try MockServer()
        folder = try TemporaryFolder()
        let cookie = Headers.Field(
            name: "Set-Cookie", bytes: Bytes(Array("name=".utf8) + Self.gbk + Array("; Path=/".utf8)))
        let name = Headers.Field(name: "X-Name", bytes: Bytes(Self.gbk))
        try server.register("/", with: StubReply(headers: Headers([cookie, name]), body: [.text("body")]))
    }

    @Test func cookieFilePreservesBytes() async throws {
        #expect(try await nk("-c", folder.file("jar"), server.url + "/").code == 0)
        #expect(folder.contents(of: "jar")?.suffix(6).dropLast() == [0x09] + Self.gbk)
        #expect(try await nk("-b", folder.file("jar"), server.url + "/").code == 0)
        #expect(server.requests.last?.headers.bytes("Cookie") == Bytes(Array("name=".utf8) + Self.gbk))
    }

    @Test func responseHeadsAreWrittenUnchanged() async throws {
        let line = Array("X-Name: ".utf8) + Self.gbk + Array("\r\n".utf8)
        let shown = try await nk("-i", server.url + "/")
        #expect(shown.bytes.holds(line))
        _ = try await nk("-D", folder.file("head"), "-o", folder.file("body"), server.url + "/")
        #expect(folder.contents(of: "head")?.holds(line) == true)
        _ = try await nk("-i", "-o", folder.file("both"), server.url + "/")
        #expect(folder.contents(of: "both")?.holds(line) == true)
        let written = try await nk("-o", folder.file("body"), "-w", "%header{x-name}", server.url + "/")
        #expect(written.bytes == Self.gbk)
    }

    @Test func fieldFromAFileIsSentUnchanged() async throws {
        try folder.write(Array("X-Asked: ".utf8) + Self.gbk + Array("\nX-Plain: é\n".utf8), to: "fields")
        #expect(try await nk("-H", "@" + folder.file("fields"), server.url + "/").code == 0)
        #expect(server.requests.last?.headers.bytes("X-Asked") == Bytes(Self.gbk))
        #expect(server.requests.last?.headers["X-Plain"] == "é")
    }
}

extension [UInt8] {
    fileprivate func holds(_ part: [UInt8]) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
