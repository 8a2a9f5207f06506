import Testing

/// `nk query`: objects as input, queries as output.
@Suite(.timeLimit(.minutes(5)))
struct QueryCommandTests {
    private func query(_ words: String..., lines: String) async throws -> Outcome {
        try await nk(["query"] + words, input: Array(lines.utf8))
    }

    @Test func eachLinePrintsAQuery() async throws {
        let outcome = try await query(
            lines: #"{"b":[1,"x y"],"a":{"c":null}}"# + "\n{}\r\n" + #"{"n":12345678901234567890.0,"名":true}"#)
        #expect(outcome.code == 0 && outcome.errors == "")
        #expect(
            outcome.text
                == "a%5Bc%5D&b%5B%5D=1&b%5B%5D=x%20y\n\nn=12345678901234567890.0&%E5%90%8D=1\n")
    }

    @Test func emptyInputPrintsNothing() async throws {
        let outcome = try await query(lines: "")
        #expect(outcome.code == 0 && outcome.bytes == [] && outcome.errors == "")
    }

    @Test(arguments: [
        (["--arrays", "indexed"], "b%5B0%5D=1&b%5B1%5D=2&a%5Bc%5D=1"), (["--arrays", "repeat"], "b=1&b=2&a%5Bc%5D=1"),
        (["--arrays", "comma"], "b=1,2&a%5Bc%5D=1"), (["--nested", "dots"], "b%5B%5D=1&b%5B%5D=2&a.c=1"),
        (["--booleans", "words"], "b%5B%5D=1&b%5B%5D=2&a%5Bc%5D=true"),
        (["--set", "b", "--set", "none"], "b=1&b=2&a%5Bc%5D=1"),
        (["--url", "http://h/?x#f"], "http://h/?x&b%5B%5D=1&b%5B%5D=2&a%5Bc%5D=1#f"),
    ])
    func eachOptionAppliesIndependently(words: [String], expected: String) async throws {
        let outcome = try await nk(
            ["query", "--order", "given"] + words, input: Array(#"{"b":[1,2],"a":{"c":true}}"#.utf8))
        #expect(outcome.code == 0 && outcome.text == expected + "\n")
    }

    @Test func spaceCanBeEncodedAsPlus() async throws {
        #expect(try await query("--spaces", "plus", lines: #"{"a b":"c d"}"#).text == "a+b=c+d\n")
    }

    @Test(arguments: [
        (#"{"a":\u}"#, "line 2, byte 5: "), (#"{"a":"\ud800"}"#, "line 2, byte 12: "), ("[1]", "line 2, byte 0: "),
        ("7", "line 2, byte 0: "), ("", "line 2, byte 0: "), (#"{"a":1"#, "line 2, byte 6: "),
    ])
    func invalidLineIsReportedWithItsPositionAfterTheValidOnes(line: String, place: String) async throws {
        let outcome = try await query(lines: "{\"a\":1}\n\(line)\n{\"b\":1}\n")
        #expect(outcome.code == 2 && outcome.text == "a=1\n")
        #expect(outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("nk: (2) \(place)"))
    }

    @Test func unencodableValueIsReportedWithItsKey() async throws {
        let outcome = try await query("--arrays", "comma", lines: #"{"a":{"b":[[1]]}}"#)
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errors.hasPrefix("nk: (2) line 1: 'a[b]': "))
    }

    @Test func invalidUTF8IsReportedWithItsPosition() async throws {
        let outcome = try await nk(["query"], input: Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8))
        #expect(outcome.code == 2 && outcome.errors.hasPrefix("nk: (2) line 1, byte 6: "))
    }

    @Test(arguments: [
        (["--arrays", "x"], "'x'"), (["--nested", ""], "''"), (["x"], "'x'"), (["--url"], "--url"),
        (["--url", "http://h/", "--what"], "'--what'"),
    ])
    func invalidArgumentsAreRefusedBeforeReadingInput(words: [String], offender: String) async throws {
        let outcome = try await nk(["query"] + words, input: Array("{}\n".utf8))
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func helpFitsEightyColumns() async throws {
        let outcome = try await nk("query", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("--arrays"))
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
    }

    @Test func closedOutputEndsTheQuerySilently() async throws {
        let outcome = try await nk(["query"], input: Array("{\"a\":1}\n".utf8), output: .closedPipe)
        #expect(outcome.code == 23 && outcome.errors == "")
    }
}
