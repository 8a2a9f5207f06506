import NetKit

/// `nk serve`: serves the files of a directory over HTTP, or an echo, until it is interrupted.
enum ServeCommand {
    static let help = """
        Usage: nk serve [options] [DIR]
               nk serve [options] --echo

        Serves the files of a directory (.) over HTTP with GET and HEAD. Supports
        ranges, ETag, Last-Modified, conditional requests, index.html and directory
        listings. Paths and links that lead outside DIR are not served. Prints the
        server's URL on standard output, and a line for each request on standard
        error: status, method, target, bytes. With --echo, each request gets its body
        back, and each WebSocket its messages.

        \(Subcommand.serve.optionLines)

        Stop it with Ctrl-C or SIGTERM. Exit code: 0 stopped, 2 usage or address not
        available, 26 cannot read DIR.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            var isEcho = false
            let arguments = try ServerArguments(words, of: "serve") { (word, _) throws(UsageError) in
                isEcho = isEcho || word == "--echo"
                return word == "--echo"
            }
            if arguments.wantsHelp {
                return Command.show(help)
            }
            let isQuiet = arguments.isQuiet
            let log = { @Sendable (line: String) in
                if !isQuiet {
                    Terminal.complain(Verbose.printable(line))
                }
            }
            if isEcho {
                if let path = arguments.path {
                    throw UsageError("serve --echo serves no files; unexpected '\(path)'")
                }
                return await arguments.listen(with: EchoService(log: log), until: Ending())
            }
            let path = arguments.path ?? "."
            let folder: ServedFolder
            do throws(SystemError) {
                folder = try ServedFolder(path)
            } catch {
                return Command.complain(Failure(reading: error, from: path))
            }
            return await arguments.listen(with: FolderService(folder, log: log), until: Ending())
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }
}
