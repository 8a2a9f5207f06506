import FoundationEssentials
import Testing

@testable import NetKitCLI

/// Shell completions and the manual page, which are generated from the tables of options.
@Suite(.timeLimit(.minutes(5)))
struct ManualTests {
    private static let root = #filePath.split(separator: "/").dropLast(4).map { "/\($0)" }.joined()

    @Test func everyOptionIsDocumented() {
        #expect(Set(Option.texts.keys) == Set(Option.all.map(\.long)))
        for option in Option.all {
            let text = Option.texts[option.long]
            switch option.effect {
            case .flag: #expect(text?.value == "", "--\(option.long) takes no value")
            case .value: #expect(text?.value.isEmpty == false, "--\(option.long) takes a value")
            }
            #expect(text?.summary.isEmpty == false)
        }
    }

    @Test func everySubcommandIsListedInTheTable() throws {
        let source = try String(contentsOfFile: Self.root + "/Sources/NetKitCLI/Command.swift", encoding: .utf8)
        let names = source.split(separator: "\n").compactMap { line -> String? in
            let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
            return parts.count >= 3 && parts[0].hasSuffix("case ") ? String(parts[1]) : nil
        }
        // The name of a command that a trait adds occurs twice.
        #expect(Set(names) == Set(Subcommand.all.map(\.name)) && names == names.sorted())
    }

    @Test(arguments: Subcommand.all.map(\.name))
    func subcommandOptionsMatchItsHelp(name: String) async throws {
        let command = try #require(Subcommand.all.first { $0.name == name })
        let help = try await nk(name, "--help")
        #expect(help.code == 0 && help.errors == "")
        #expect(help.text.hasPrefix("Usage: nk \(name)"))
        #expect(help.lines.allSatisfy { $0.count <= 80 })
        var rest = help.text[...]
        var named: Set<String> = []
        while let mark = rest.firstRange(of: "--") {
            rest = rest[mark.upperBound...]
            let word = rest.prefix { $0.isLowercase || $0.isNumber || $0 == "-" }
            if !word.isEmpty {
                named.insert(String(word))
            }
        }
        let known = Set(command.options.map(\.long)).union(["help"])
        // The help of `nk pins` and `nk download` also mentions options of the main command.
        let others = Set(Option.all.map(\.long))
        #expect(named.subtracting(known).isSubset(of: others), "the help of \(name) names other options")
        for option in command.options where option.long != "help" {
            // The help mentions some options only by their letter.
            let isNamed = named.contains(option.long) || option.short.map { help.text.contains("-\($0)") } ?? false
            #expect(isNamed, "the help of \(name) lacks --\(option.long)")
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func everyOptionAndSubcommandIsCompleted(shell: String) async throws {
        let text = try await nk("completions", shell).text
        for option in Option.all {
            let spelling = shell == "fish" ? " -l \(option.long) " : "--\(option.long)"
            #expect(text.contains(spelling), "\(shell) lacks --\(option.long)")
            if let short = option.short {
                let isWord = short.isLetter || short.isNumber
                #expect(text.contains(shell == "fish" ? isWord ? " -s \(short) " : " -s '\(short)' " : "-\(short)"))
            }
        }
        for command in Subcommand.all {
            #expect(text.contains(command.name))
        }
    }

    @Test(arguments: ["", "tcsh"])
    func anotherShellIsRefused(shell: String) async throws {
        #expect(try await nk("completions", shell).code == 2)
        #expect(try await nk("completions").code == 2)
        #expect(try await nk("manual", "x").code == 2)
    }

    @Test func manualPageMatchesTheCommittedOne() async throws {
        let committed = try String(contentsOfFile: Self.root + "/docs/man/nk.1", encoding: .utf8)
        #expect(try await nk("manual").text == committed, "nk manual >docs/man/nk.1 brings it up to date")
        for option in Option.all {
            let escaped = option.long.split(separator: "-", omittingEmptySubsequences: false).joined(separator: "\\-")
            #expect(committed.contains("\\-\\-\(escaped)\\fR"))
        }
    }

    @Test func documentationNamesEveryOption() throws {
        let page = try String(contentsOfFile: Self.root + "/docs/nk.md", encoding: .utf8)
        for option in Option.all {
            #expect(page.contains("`--\(option.long)"), "docs/nk.md lacks --\(option.long)")
        }
        for command in Subcommand.all {
            #expect(page.contains("nk \(command.name)"), "docs/nk.md lacks nk \(command.name)")
        }
    }
}
