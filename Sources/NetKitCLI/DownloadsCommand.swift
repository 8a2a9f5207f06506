import NetKit
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// `nk downloads`: lists the incomplete downloads of a directory.
enum DownloadsCommand {
    static let help = """
        Usage: nk downloads list DIR                     what is not whole yet
               nk downloads resume DIR [-H 'Name: value'] [--segments N]
                                       [--trust-server]
               nk downloads purge DIR [--older-than DAYS]

        A partial download is NAME.part with NAME.part.nk beside it; nk makes them
        with -C -, --segments, --sha256, -o DIR/ and -J. list prints a line for each:
        bytes proven, bytes of the whole, when, whether it can be resumed or somebody
        is at it, the place it is for, its URL; with tabs between. resume goes on with
        each of them, one after the other, into its place. purge removes those that
        were last gone on with before so many days, or all; what somebody is at
        stays, and so does everything without a record.

        Exit code: 0 done, 2 usage, 23 a directory that cannot be used, and those of
        fetching.

        """

    private struct Errand {
        var deed = ""
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
            let errand = try parse(words)
            let folder = errand.folder ?? ""
            do throws(NetError) {
                switch errand.deed {
                case "list": return Command.show(try await list(folder))
                case "purge": return Command.show(try await purge(folder, errand))
                default: return try await resume(folder, errand)
                }
            } catch {
                let code = error.code == .file ? ExitCode.write : ExitCode.of(error)
                return Command.complain(Failure(code, error.message))
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func parse(_ words: ArraySlice<String>) throws(UsageError) -> Errand {
        var errand = Errand()
        var rest = words
        errand.deed = rest.popFirst() ?? ""
        if !["list", "resume", "purge"].contains(errand.deed) {
            throw UsageError("downloads takes list, resume or purge; nk downloads --help tells more")
        }
        while let word = rest.popFirst() {
            switch (word, errand.deed) {
            case ("-H", "resume"), ("--header", "resume"):
                try rest.takeField(of: word, to: &errand.headers)
            case ("--segments", "resume"):
                errand.options.segments = try DownloadArguments.count(try rest.takeValue(of: word))
            case ("--trust-server", "resume"):
                errand.options.trustsServer = true
            case ("--older-than", "purge"):
                let text = try rest.takeValue(of: word)
                guard let days = Double(text), days >= 0, days <= 1e6 else {
                    throw UsageError("--older-than '\(text)' is not a number of days")
                }
                errand.days = days
            default:
                if errand.folder != nil || word.hasPrefix("-") || word.isEmpty {
                    throw UsageError("downloads \(errand.deed) takes no '\(word)'; nk downloads --help tells more")
                }
                errand.folder = word
            }
        }
        if errand.folder == nil {
            throw UsageError("downloads \(errand.deed) needs a directory")
        }
        return errand
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

    private static func purge(_ folder: String, _ errand: Errand) async throws(NetError) -> String {
        let moment = errand.days == 0 ? nil : Date(timeIntervalSinceNow: -errand.days * 86400)
        let count = try await Agent().purgePartialDownloads(in: folder, olderThan: moment)
        return "removed \(count)\n"
    }

    private static func resume(_ folder: String, _ errand: Errand) async throws(NetError) -> Int32 {
        var configuration = Agent.Configuration(headers: errand.headers)
        configuration.userAgent = "nk/\(Versions.nk)"
        let agent = Agent(configuration)
        let outcomes = try await agent.resumePartialDownloads(in: folder, options: errand.options)
        await agent.shutdown()
        var code = ExitCode.success
        var lines = ""
        for (partial, outcome) in outcomes {
            switch outcome {
            case .success(let file):
                lines +=
                    "\(Verbose.printable(file.path))\t\(file.byteCount) bytes, \(file.resumedBytes) of them before\n"
            case .failure(let error):
                let exitCode = Failure(saving: error).exitCode
                let failed = Command.complain(Failure(exitCode, "\(partial.path): \(error.message)"))
                code = code == ExitCode.success ? failed : code
            }
        }
        let shown = Command.show(lines)
        return code == ExitCode.success ? shown : code
    }
}
