import Testing

@testable import NetKitCLI

/// `nk help`, and what an error message suggests.
@Suite(.timeLimit(.minutes(5)))
struct HelpTests {
    @Test(arguments: [
        ("serv", "did you mean 'serve'?"), ("serv", "nk http://serv"), ("vaildate", "did you mean 'validate'?"),
        ("get", "nk -X GET URL"), ("POST", "nk -X POST URL"), ("database", "nk http://database"),
    ])
    func wordThatIsNoCommandAndNoURLAsksBack(word: String, advice: String) async throws {
        let outcome = try await nk(word, "x")
        #expect(outcome.code == 2 && outcome.bytes == [] && outcome.errorLines.count == 1)
        #expect(outcome.errors.hasPrefix("nk: (2) unknown command '\(word)'") && outcome.errors.contains(advice))
    }

    @Test func hostWithADotAPortOrAPathIsFetched() async throws {
        let server = try LoopbackServer()
        server.script("*", .text("here"))
        let port = server.url("/").split(separator: ":").last.map { $0.dropLast() } ?? ""
        for url in ["127.0.0.1:\(port)", "localhost:\(port)/a", server.url("/")] {
            #expect(try await nk("--resolve", "localhost:\(port):127.0.0.1", url).text == "here")
        }
    }

    @Test(arguments: [
        ("--retyr", "did you mean --retry?"), ("--max-tim", "did you mean --max-time?"),
        ("--outptu", "did you mean --output?"), ("--qqqqqq", "see nk --help all"), ("-Q", "see nk --help all"),
    ])
    func unknownOptionSuggestsANeighbour(option: String, advice: String) async throws {
        let outcome = try await nk(option, "3", "http://127.0.0.1/")
        #expect(outcome.code == 2 && outcome.errors.contains("unknown option \(option)"))
        #expect(outcome.errors.hasSuffix("\(advice)\n"))
    }

    @Test(arguments: ["serve", "validate", "run", "pins", "demo", "manual"])
    func helpOfACommandIsItsOwn(command: String) async throws {
        let outcome = try await nk("help", command)
        let help = try await nk(command, "--help").text
        #expect(outcome.code == 0 && outcome.text == help)
    }

    @Test func helpWithoutAWordIsTheShortHelp() async throws {
        for words in [["help"], ["--help"], ["-h"]] {
            #expect(try await nk(words).text == Help.text)
        }
        #expect(try await nk("help", "help").text == Help.ofHelp)
        #expect(try await nk("help", "all").text == Help.all)
    }

    @Test(arguments: [["help", "limits"], ["--help", "limits"], ["-h", "Limits"]])
    func helpOfAGroupDescribesItsOptions(words: [String]) async throws {
        let outcome = try await nk(words)
        #expect(outcome.code == 0 && outcome.text.contains("--max-time") && !outcome.text.contains("--cookie"))
    }

    @Test(arguments: ["retry", "--retry", "-L", "location"])
    func helpOfAnOptionIsItsLine(word: String) async throws {
        let outcome = try await nk("help", word)
        #expect(outcome.code == 0 && outcome.lines.count == 1)
        #expect(outcome.text.contains(word.hasSuffix("retry") ? "--retry N" : "-L, --location"))
    }

    @Test func helpOfAnUnknownWordNamesItsNeighbours() async throws {
        let outcome = try await nk("help", "servee")
        #expect(outcome.code == 2 && outcome.errors.contains("no help for 'servee'; did you mean serve?"))
        #expect(try await nk("help", "xyzxyz").errors.contains("request, authentication, tls"))
    }

    @Test func nearestWordIsWithinTwoChanges() {
        let words = ["serve", "mock", "path"]
        #expect(Suggestion.nearest(to: "sevre", in: words) == "serve")
        #expect(Suggestion.nearest(to: "SERVE", in: words) == "serve")
        #expect(Suggestion.nearest(to: "mokc", in: words) == "mock")
        #expect(Suggestion.nearest(to: "mcok1", in: words) == "mock")
        #expect(Suggestion.nearest(to: "xxxx", in: words) == nil)
        #expect(Suggestion.nearest(to: "", in: words) == nil)
        #expect(Suggestion.nearest(to: "serving", in: words) == nil)
    }
}
