import NetKit
import Testing

struct TextDecodingTests {
    @Test(
        arguments: [
            // "中文" in GB18030, followed by a four-byte character.
            ("text/plain; charset=gb18030", [0xD6, 0xD0, 0xCE, 0xC4, 0x94, 0x39, 0xDA, 0x33], "中文💩"),
            ("text/plain;charset=GB18030", [0xD6, 0xD0], "中"),
            ("text/plain; charset=\"gb18030\"", [0xD6, 0xD0], "中"),
            ("text/plain; charset=Shift_JIS", [0x93, 0xFA, 0x96, 0x7B, 0xB1], "日本ｱ"),
            ("text/plain; CHARSET=\"SHIFT_JIS\"; format=flowed", [0x93, 0xFA], "日"),
            ("text/plain; charset=windows-1252", [0x80, 0x93, 0xE9, 0x94], "€“é”"),
            ("text/plain; charset=iso-8859-1", [0x63, 0x61, 0x66, 0xE9], "café"),
            ("text/plain; format=flowed; charset = latin1 ", [0xFC], "ü"),
            ("text/plain; charset=utf-8", [0xC3, 0xA9], "é"),
            ("text/plain; charset=UTF-8", [0xF0, 0x9F, 0x92, 0xA9], "💩"),
            ("text/html; charset=\"Utf-8\"", [0xC3, 0xA9, 0x00, 0x0A], "é\0\n"),
            ("text/plain", [0xC3, 0xA9], "é"),
            ("text/plain; charset=", [0xC3, 0xA9], "é"),
            ("text/plain; xcharset=latin1", [0xC3, 0xA9], "é"),
            ("text/plain; charset=us-ascii", [0x41], "A"),
            ("text/plain; charset=gb18030", [], ""),
        ] as [(String, [UInt8], String)])
    func textIsDecodedByItsContentType(contentType: String, bytes: [UInt8], text: String) async throws {
        let response = try await send(Request<String>(""), answer: .bytes(bytes, contentType: contentType))
        #expect(response.value == text)
        #expect(response.bytes == Bytes(bytes))
    }

    @Test func textWithoutAContentTypeIsUTF8() async throws {
        let response = try await send(Request<String>(""), answer: Reply(body: Array("é".utf8)))
        #expect(response.value == "é")
    }

    @Test func charsetCanBeOverridden() async throws {
        let request = Request("", decoding: .text(charset: "windows-1252"))
        let response = try await send(request, answer: .bytes([0x80], contentType: "text/plain; charset=utf-8"))
        #expect(response.value == "€")
    }

    @Test(
        arguments: [
            ("utf-8", [0x61, 0x62, 0xFF, 0x63], 2), ("utf-8", [0xC3], 0), ("utf-8", [0x61, 0xED, 0xA0, 0x80], 1),
            ("UTF-8", [0xC0, 0x80], 0), ("shift_jis", [0x41, 0x42, 0x43, 0x81], 3), ("gb18030", [0x41, 0xFF], 1),
            ("windows-1253", [0x41, 0xD2], 1),
        ] as [(String, [UInt8], Int)])
    func undecodableByteIsReportedWithItsOffset(charset: String, bytes: [UInt8], offset: Int) async throws {
        let reply = Reply.bytes(bytes, contentType: "text/plain; charset=\(charset)")
        let error = try #require(
            await #expect(throws: NetError.self) { try await send(Request<String>(""), answer: reply) })
        #expect(error.code == .badCharset)
        #expect(error.offset == offset)
        #expect(error.response?.status == 200)
        #expect(error.response?.bytes == Bytes(bytes))
        #expect(!error.isRetryable)
        #expect(!error.description.contains("\n"))
    }

    @Test(arguments: ["klingon", "a/b", "utf-8//IGNORE", String(repeating: "x", count: 5000)])
    func anUnknownCharsetIsAnError(charset: String) async throws {
        let reply = Reply.bytes([0x41], contentType: "text/plain; charset=\(charset)")
        let error = try #require(
            await #expect(throws: NetError.self) { try await send(Request<String>(""), answer: reply) })
        #expect(error.code == .badCharset)
        #expect(error.response?.bytes == [0x41])
    }

    @Test func largeTextIsDecodedWhole() async throws {
        let bytes = Array(repeatElement([0xD6, 0xD0], count: 100_000).joined()) as [UInt8]
        let response = try await send(
            Request<String>(""), answer: .bytes(bytes, contentType: "text/plain; charset=gb18030"))
        #expect(response.value == String(repeating: "中", count: 100_000))
    }

    private func send<Value>(_ request: Request<Value>, answer: Reply) async throws -> Response<Value> {
        let server = try LoopbackServer()
        server.script("/", answer)
        return try await Agent(.init(baseURL: server.url("/"))).send(request)
    }
}
