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
        case "completions": return printResult(rest, CompletionsCommand.run)
        case "demo": return await demo(rest)
        case "downloads": return await DownloadsCommand.run(rest)
        case "help": return await help(rest)
        #if Images
        case "image": return await ImageCommand.run(rest)
        #else
        case "image":
            return complain(
                Failure(ExitCode.usage, "image: this nk was built without images; build it with --traits Images"))
        #endif
        case "join": return printResult(rest, JoinCommand.run)
        case "key": return printResult(rest, KeyCommand.run)
        case "manual": return printResult(rest, ManualCommand.run)
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
        case "ws": return await WebSocketCommand.run(rest)
        default: return await fetch(words)
        }
    }

    /// Runs a subcommand that returns its output as text. If it throws an error, the message and the exit code of the
    /// error are used.
    private static func printResult(
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
            try Help.checkCommand(words)
            let operations = try Arguments.operations(parsing: words)
            if let asking = operations.first(where: { $0.wantsHelp || $0.wantsVersion }) {
                return show(asking.wantsHelp ? try Help.about(asking.urls.first) : Help.version)
            }
            return await fetch(operations)
        } catch {
            return complain(Failure(error.exitCode, error.message))
        }
    }

    /// Runs the operations in order. Returns the exit code of the first one that failed.
    private static func fetch(_ operations: [Arguments]) async -> Int32 {
        await untilInterrupted { () async throws(Failure) in
            var code = ExitCode.success
            for operation in operations where !Task.isCancelled {
                let ended = try await TransferRunner(operation).run()
                code = code == ExitCode.success ? ended : code
            }
            return code
        }
    }

    /// Runs work and returns its exit code. The first signal, such as the one of Ctrl-C, cancels the work; nk then ends
    /// by that signal.
    static func untilInterrupted(_ perform: @escaping @Sendable () async throws(Failure) -> Int32) async -> Int32 {
        let work = Task(executorPreference: MainThreadExecutor.current) { () async -> Int32 in
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

    /// Writes text to standard output and returns the exit code.
    ///
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

    /// `nk help [WORD]`: the help of a command, of a group of options, or of one option.
    private static func help(_ words: ArraySlice<String>) async -> Int32 {
        if let word = words.first, word != "help", Subcommand.all.contains(where: { $0.name == word }) {
            return await run([word, "--help"])
        }
        return printResult(words) { words throws(UsageError) in
            let word = words.first
            return ["-h", "--help", "help"].contains(word) ? Help.ofHelp : try Help.about(word)
        }
    }

    private static func demo(_ words: ArraySlice<String>) async -> Int32 {
        if words.contains("-h") || words.contains("--help") {
            return show(Demo.help)
        }
        if let word = words.first {
            return complain(Failure(ExitCode.usage, "demo: unexpected argument '\(word)'"))
        }
        return await Demo.run()
    }

    /// Writes an error message to standard error and returns the exit code.
    static func complain(_ failure: Failure) -> Int32 {
        if let message = failure.message {
            Terminal.complain("nk: (\(failure.exitCode)) \(Verbose.printable(message))")
        }
        return failure.exitCode
    }
}
