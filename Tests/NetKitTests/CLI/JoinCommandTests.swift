import Testing

@Suite(.timeLimit(.minutes(5)))
struct JoinCommandTests {
    @Test(arguments: [
        (["http://h/v1", "a b"], "http://h/v1/a%20b"), (["http://h/v1", "/x"], "http://h/x"),
        (["--keep-base-path", "http://h/v1", "/x"], "http://h/v1/x"), (["", "https://h"], "https://h"),
        (["http://h", "--", "--x"], "http://h/--x"), (["http://h/v1", ""], "http://h/v1/"),
    ])
    func theURLIsPrinted(words: [String], url: String) async throws {
        let outcome = try await nk(["join"] + words)
        #expect(outcome.code == 0 && outcome.text == url + "\n" && outcome.errors == "")
    }

    @Test(arguments: [
        ([], "a base URL and a path"), (["http://h"], "a base URL and a path"), (["a", "b", "c"], "a base URL"),
        (["h", "x"], "no scheme"), (["http://", "x"], "no host"), (["http://h", "a\u{1}"], "byte 0x01 at byte 1"),
        (["--other", "http://h", "x"], "--other"), (["http://h:99999", "x"], "port"),
    ])
    func invalidURLPrintsOneLineAndExitsWith2(words: [String], offender: String) async throws {
        let outcome = try await nk(["join"] + words)
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func commandHasItsOwnHelp() async throws {
        let outcome = try await nk("join", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("--keep-base-path"))
    }
}
