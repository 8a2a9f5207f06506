/// From the command line to the exit code.
enum Command {
    static func run(_ words: [String]) async -> Int32 {
        if words.first == "demo" {
            return await demo(words.dropFirst())
        }
        do throws(UsageError) {
            let arguments = try Arguments(parsing: words)
            if arguments.wantsHelp || arguments.wantsVersion {
                return show(arguments.wantsHelp ? Help.text : Help.version)
            }
            return await fetch(arguments)
        } catch {
            return complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func fetch(_ arguments: Arguments) async -> Int32 {
        let work = Task {
            do throws(Failure) {
                return await (try Session(arguments)).run()
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

    private static func show(_ text: String) -> Int32 {
        do throws(SystemError) {
            try Terminal.write(text, to: Terminal.standardOutput)
            return ExitCode.success
        } catch {
            return complain(Failure(writing: error, to: nil))
        }
    }

    private static func demo(_ words: ArraySlice<String>) async -> Int32 {
        if let word = words.first {
            return complain(Failure(ExitCode.usage, "demo takes no '\(word)'"))
        }
        return await Demo.run()
    }

    private static func complain(_ failure: Failure) -> Int32 {
        if let message = failure.message {
            Terminal.complain("nk: (\(failure.exitCode)) \(Verbose.printable(message))")
        }
        return failure.exitCode
    }
}
