import NetKit
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `nk downloads`: lists the incomplete downloads of a directory.
enum DownloadsCommand {
    static let help = """
        Usage: nk downloads list DIR                     list incomplete downloads
               nk downloads resume DIR [-H 'Name: value'] [--segments N]
                                       [--trust-server]
               nk downloads purge DIR [--older-than DAYS]

        A partial download is a file NAME.part with its record NAME.part.nk. nk
        creates them with -C -, --segments, --sha256, -o DIR/ and -J.

          list     prints one line for each, separated by tabs: verified bytes, total
                   bytes, time, state (resumable, unproven or active), output file, URL
          resume   resumes them one after the other
          purge    removes those not used for DAYS days, or all; active downloads and
                   files without a record are kept

        Exit code: 0 success, 2 usage, 23 directory not usable, or as for nk URL.

        """

    private struct ParsedArguments {
        var action = ""
        var folder: String?
        var headers: Headers = [:]
        var options = DownloadOptions()
        var days = 0.0
    }

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("--help") || words.contains("-h") {
            return Command.show(help)
        }
        do throws(UsageError) {
            let parsed = try parse(words)
            let folder = parsed.folder ?? ""
            do throws(NetError) {
                switch parsed.action {
                case "list": return Command.show(try await list(folder))
                case "purge": return Command.show(try await purge(folder, parsed))
                default: return try await resume(folder, parsed)
                }
            } catch {
                let code = error.code == .file ? ExitCode.write : ExitCode.of(error)
                return Command.complain(Failure(code, error.message))
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> ParsedArguments {
        var parsed = ParsedArguments()
        var remaining = words
        parsed.action = remaining.popFirst() ?? ""
        if !["list", "resume", "purge"].contains(parsed.action) {
            throw UsageError("downloads needs an action: list, resume or purge; see nk downloads --help")
        }
        while let word = remaining.popFirst() {
            switch (word, parsed.action) {
            case ("-H", "resume"), ("--header", "resume"):
                try remaining.takeField(of: word, to: &parsed.headers)
            case ("--segments", "resume"):
                parsed.options.segments = try DownloadArguments.count(try remaining.takeValue(of: word))
            case ("--trust-server", "resume"):
                parsed.options.trustsServer = true
            case ("--older-than", "purge"):
                let text = try remaining.takeValue(of: word)
                guard let days = Double(text), days >= 0, days <= 1e6 else {
                    throw UsageError("--older-than '\(text)' is not a number of days")
                }
                parsed.days = days
            default:
                if parsed.folder != nil || word.hasPrefix("-") || word.isEmpty {
                    throw UsageError(
                        "downloads \(parsed.action): unexpected argument '\(word)'; see nk downloads --help")
                }
                parsed.folder = word
            }
        }
        if parsed.folder == nil {
            throw UsageError("downloads \(parsed.action) needs a directory")
        }
        return parsed
    }

    private static func list(_ folder: String) async throws(NetError) -> String {
        let found = try await Agent().partialDownloads(in: folder)
        let lines = found.map { partial in
            let state = partial.isActive ? "active" : partial.hasValidator ? "resumable" : "unproven"
            let columns = [
                "\(partial.receivedBytes)", partial.totalBytes.map { "\($0)" } ?? "-",
                partial.changed.formatted(.iso8601), state, Verbose.printable(partial.path),
                Verbose.shown(url: partial.url),
            ]
            return columns.joined(separator: "\t") + "\n"
        }
        return lines.joined()
    }

    private static func purge(_ folder: String, _ parsed: ParsedArguments) async throws(NetError) -> String {
        let moment = parsed.days == 0 ? nil : Date(timeIntervalSinceNow: -parsed.days * 86400)
        let count = try await Agent().purgePartialDownloads(in: folder, olderThan: moment)
        return "removed \(count)\n"
    }

    private static func resume(_ folder: String, _ parsed: ParsedArguments) async throws(NetError) -> Int32 {
        var configuration = Agent.Configuration(headers: parsed.headers)
        configuration.userAgent = "nk/\(Versions.nk)"
        let agent = Agent(configuration)
        let outcomes = try await agent.resumePartialDownloads(in: folder, options: parsed.options)
        await agent.shutdown()
        var code = ExitCode.success
        var lines = ""
        for (partial, outcome) in outcomes {
            switch outcome {
            case .success(let file):
                lines +=
                    "\(Verbose.printable(file.path))\t\(file.byteCount) bytes, \(file.resumedBytes) resumed\n"
            case .failure(let error):
                let exitCode = Failure(saving: error).exitCode
                let failureCode = Command.complain(Failure(exitCode, "\(partial.path): \(error.message)"))
                code = code == ExitCode.success ? failureCode : code
            }
        }
        let printCode = Command.show(lines)
        return code == ExitCode.success ? printCode : code
    }
}
