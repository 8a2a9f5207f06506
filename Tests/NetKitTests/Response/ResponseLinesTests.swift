import NetKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ResponseLinesTests {
    private func lines(_ chunks: [[UInt8]], upTo maxBytes: Int = 1 << 20) async throws -> [String] {
        let stream = ResponseStream(status: 200, chunks: Pieces(chunks.map { Bytes($0) }))
        var lines: [String] = []
        for try await line in stream.lines(upTo: maxBytes) {
            lines.append(line)
        }
        return lines
    }

    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("\r\n", [""]), ("\r", [""]),
            ("\n\n", ["", ""]), ("\r\r", ["", ""]), ("\r\n\r\n", ["", ""]), ("\n\r", ["", ""]),
            ("a\r\nb\rc\nd", ["a", "b", "c", "d"]),
            ("a\r\r\nb\n\r\n", ["a", "", "b", ""]), ("héé\r\n日本\n", ["héé", "日本"]),
        ] as [(String, [String])])
    func everySplitGivesTheSameLines(text: String, expected: [String]) async throws {
        let bytes = Array(text.utf8)
        #expect(try await lines([bytes]) == expected)
        #expect(try await lines(bytes.map { [$0] }) == expected)
        for split in 0...bytes.count {
            #expect(try await lines([Array(bytes[..<split]), Array(bytes[split...])]) == expected)
        }
    }

    @Test func nonUTF8BytesAreReplaced() async throws {
        #expect(try await lines([[0x61, 0xFF, 0x0A, 0xE2, 0x82]]) == ["a\u{FFFD}", "\u{FFFD}"])
    }

    @Test func aLineOfTheMaximalLengthIsALine() async throws {
        let line = Array("12345".utf8)
        #expect(try await lines([line + [10], line], upTo: 5) == ["12345", "12345"])
        #expect(try await lines(line.map { [$0] } + [[13], [10]], upTo: 5) == ["12345"])
        for chunks in [[line], line.map { [$0] }, [line + [10]]] {
            let error = await #expect(throws: NetError.self) { _ = try await lines(chunks, upTo: 4) }
            #expect(error?.code == .tooLarge)
        }
    }

    @Test func endlessLineIsAnError() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1 << 40))
        let agent = Agent()
        let stream = try await agent.stream(Request<Bytes>(server.url("/")))
        let error = await #expect(throws: NetError.self) { for try await _ in stream.lines {} }
        #expect(error?.code == .tooLarge)
        // The transfer ends with its reader, although the stream still exists.
        try await server.waitForSilence()
        #expect(stream.status == 200)
    }

    @Test func linesAreDeliveredAsTheyArrive() async throws {
        let server = try LoopbackServer()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"
        var reply = Reply.raw("\(head)one\ntwo\n")
        reply.cutAfter = UInt64(head.utf8.count + 4)
        reply.ending = .stall
        server.script("/", reply)
        let stream = try await Agent().stream(Request<Bytes>(server.url("/")))
        var iterator = stream.lines.makeAsyncIterator()
        #expect(try await iterator.next() == "one")
        try await server.waitForStalled(1)
        server.releaseStalled()
        #expect(try await iterator.next() == "two")
        #expect(try await iterator.next() == nil)
        #expect(try await iterator.next() == nil)
    }
}
