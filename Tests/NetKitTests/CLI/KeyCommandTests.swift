import NetKit
import Testing

@Suite(.timeLimit(.minutes(5)))
struct KeyCommandTests {
    @Test func keyMatchesTheLibrary() async throws {
        let outcome = try await nk(
            "key", "POST", "http://h/x", "--params", #"{"b":1,"a":[1.0,"1"]}"#, "-H", "Accept: a/b", "--user", "me")
        let key = try CacheKey(
            method: .post, url: "http://h/x", headers: ["accept": "a/b"],
            parameters: ["a": [.number("1.0"), "1"], "b": 1], scope: "me")
        #expect(outcome.code == 0 && outcome.text == key.name + "\n" && outcome.errors == "")
    }

    @Test func keyIgnoresTheOrderOfNamesAndTheCaseOfHosts() async throws {
        let one = try await nk("key", "GET", "http://H:80", "--params", #"{"a":1,"b":2}"#)
        let other = try await nk("key", "GET", "HTTP://h/#top", "--params", #"{"b":2,"a":1}"#)
        let third = try await nk("key", "GET", "http://h/", "--params", #"{"b":2,"a":"1"}"#)
        #expect(one.text == other.text)
        #expect(one.text != third.text && third.code == 0)
    }

    @Test func canonicalFormIsExplained() async throws {
        let outcome = try await nk("key", "--explain", "PUT", "http://h/?q", "-d", "x", "--params", #"[{"k":null}]"#)
        #expect(
            outcome.text == """
                method      PUT
                url         http://h/?q
                parameters  [{"k": null}]
                body        1 bytes "x"

                """)
    }

    @Test(arguments: [
        ([], "a method and a URL"), (["GET"], "a method and a URL"), (["GET", "h"], "no scheme"),
        (["GET", "http://h/a b"], "byte 10"), (["G T", "http://h/"], "method"),
        (["GET", "http://h/", "--params"], "--params"),
        (["GET", "http://h/", "--params", #"{"a":01}"#], "column"),
        (["GET", "http://h/", "--params", "1"], "--params"),
        (["GET", "http://h/", "-H", "nothing"], "-H"), (["GET", "http://h/", "-H", "a b: c"], "field 1"),
        (["GET", "http://h/", "--nothing"], "--nothing"),
    ])
    func invalidRequestPrintsOneLineAndExitsWith2(words: [String], offender: String) async throws {
        let outcome = try await nk(["key"] + words)
        #expect(outcome.code == 2 && outcome.bytes == [])
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains(offender))
    }

    @Test func commandHasItsOwnHelp() async throws {
        let outcome = try await nk("key", "--help")
        #expect(outcome.code == 0 && outcome.text.contains("--explain"))
    }
}
