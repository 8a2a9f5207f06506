import NetKit

/// `nk serve`: serves the files of a directory over HTTP until it is interrupted.
enum ServeCommand {
    static let help = """
        Usage: nk serve [options] [DIR]

        Serves the files of a folder (.) with GET and HEAD: ranges, ETag,
        Last-Modified and the conditions on them, types by extension, index.html or a
        list for a folder. Nothing beyond DIR is served, whatever a path or a link
        says. The URL is the first line of standard output; a line for each request
        goes to standard error: status, method, target, bytes.

        \(Subcommand.serve.optionLines)

        Ends with 0 by Ctrl-C or SIGTERM. Exit codes: 2 usage, or an address or port
        that cannot be had, 26 a folder that cannot be read.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            let words = try ListeningWords(words, of: "serve")
            if words.wantsHelp {
                return Command.show(help)
            }
            let path = words.path ?? "."
            let folder: ServedFolder
            do throws(SystemError) {
                folder = try ServedFolder(path)
            } catch {
                return Command.complain(Failure(reading: error, from: path))
            }
            let isQuiet = words.isQuiet
            let service = FolderService(folder) { line in
                if !isQuiet {
                    Terminal.complain(Verbose.printable(line))
                }
            }
            return await words.listen(with: service, until: Ending())
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }
}
