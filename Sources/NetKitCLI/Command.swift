import NetKit

/// Runs a command line and returns the exit code.
enum Command {
    static func run(words: () throws(UsageError) -> [String]) async -> Int32 {
        do throws(UsageError) {
            return await run(try words())
        } catch {
            return complain(Failure(error.exitCode, error.message))
        }
    }

    private static func run(_ words: [String]) async -> Int32 {
        let rest = words.dropFirst()
        switch words.first {
        case "cache": return await CacheCommand.run(rest)
        case "completions": return answer(rest, CompletionsCommand.run)
        case "demo": return await demo(rest)
        case "downloads": return await DownloadsCommand.run(rest)
        case "image": return await ImageCommand.run(rest)
        case "join": return answer(rest, JoinCommand.run)
        case "key": return answer(rest, KeyCommand.run)
        case "manual": return answer(rest, ManualCommand.run)
        case "mock": return await MockCommand.run(rest)
        case "multipart": return await MultipartCommand.run(rest)
        case "parts": return await PartsCommand.run(rest)
        case "path": return await PathCommand.run(rest)
        case "pins": return await PinsCommand.run(rest)
        case "query": return QueryCommand.run(rest)
        case "run": return await RunCommand.run(rest)
        case "serve": return await ServeCommand.run(rest)
        case "trust": return TrustCommand.run(rest)
        case "validate": return ValidateCommand.run(rest)
        default: return await fetch(words)
        }
    }

    /// Runs a subcommand that returns a text, or fails with one line and exit code 2.
    private static func answer(
        _ words: ArraySlice<String>, _ run: (ArraySlice<String>) throws(UsageError) -> String
    ) -> Int32 {
        do throws(UsageError) {
            return show(try run(words))
        } catch {
            return complain(Failure(error.exitCode, error.message))
        }
    }

    private static func fetch(_ words: [String]) async -> Int32 {
        do throws(UsageError) {
            let arguments = try Arguments(parsing: words)
            if arguments.wantsHelp || arguments.wantsVersion {
                let help = arguments.urls == ["all"] ? Help.all : Help.text
                return show(arguments.wantsHelp ? help : Help.version)
            }
            return await fetch(arguments)
        } catch {
            return complain(Failure(error.exitCode, error.message))
        }
    }

    private static func fetch(_ arguments: Arguments) async -> Int32 {
        await untilInterrupted { () async throws(Failure) in await (try Session(arguments)).run() }
    }

    /// Runs work that the first signal cancels. Returns the exit code. If a signal arrived, nk ends by that signal
    /// instead.
    static func untilInterrupted(_ perform: @escaping @Sendable () async throws(Failure) -> Int32) async -> Int32 {
        let work = Task { () async -> Int32 in
            do throws(Failure) {
                return try await perform()
            } catch {
                return complain(error)
            }
        }
        Interrupt.onFirst { work.cancel() }
        let code = await work.value
        if let signal = Interrupt.caught {
            Interrupt.die(of: signal)
        }
        return code
    }

    /// - Parameter body: bytes that are written after the text.
    static func show(_ text: String, _ body: Bytes = []) -> Int32 {
        do throws(SystemError) {
            try Terminal.write(text, to: Terminal.standardOutput)
            try body.withSpan { span throws(SystemError) in try Terminal.write(span, to: Terminal.standardOutput) }
            return ExitCode.success
        } catch {
            return complain(Failure(writing: error, to: nil))
        }
    }

    private static func demo(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("-h") || words.contains("--help") {
            return show(Demo.help)
        }
        if let word = words.first {
            return complain(Failure(ExitCode.usage, "demo takes no '\(word)'"))
        }
        return await Demo.run()
    }

    static func complain(_ failure: Failure) -> Int32 {
        if let message = failure.message {
            Terminal.complain("nk: (\(failure.exitCode)) \(Verbose.printable(message))")
        }
        return failure.exitCode
    }
}
