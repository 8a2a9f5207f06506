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
            return await Fetch(arguments).run()
        } catch {
            Terminal.complain("nk: (\(ExitCode.usage)) \(Verbose.printable(error.message))")
            return ExitCode.usage
        }
    }

    private static func show(_ text: String) -> Int32 {
        if let fault = Output.write([.text(text)], to: nil) {
            Terminal.complain("nk: (\(ExitCode.write)) \(fault)")
            return ExitCode.write
        }
        return ExitCode.success
    }

    private static func demo(_ words: ArraySlice<String>) async -> Int32 {
        if let word = words.first {
            Terminal.complain("nk: (\(ExitCode.usage)) demo takes no '\(Verbose.printable(word))'")
            return ExitCode.usage
        }
        return await Demo.run()
    }
}
