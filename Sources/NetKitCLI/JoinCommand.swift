import NetKit

/// `nk join BASE PATH`: resolves a path against a base URL.
enum JoinCommand {
    static let help = """
        Usage: nk join [--keep-base-path] BASE PATH

        Prints the URL of a request for PATH with the base URL BASE. The path of BASE
        is a directory, and PATH is resolved against it (RFC 3986, 5.2). Spaces,
        non-ASCII characters and incomplete percent-encodings in PATH are encoded.
        BASE may be empty if PATH is an absolute URL.

          --keep-base-path   Append a PATH that begins with '/' to the base path

        Exit code: 0 success, 2 invalid URL or usage.

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        var operands: [String] = []
        var keepsBasePath = false
        var areOptionsOver = false
        for word in words {
            switch word {
            case "-h" where !areOptionsOver, "--help" where !areOptionsOver: return help
            case "--keep-base-path" where !areOptionsOver: keepsBasePath = true
            case "--" where !areOptionsOver: areOptionsOver = true
            case _ where !areOptionsOver && word.hasPrefix("-") && word != "-":
                throw UsageError("join: unknown option \(word); see nk join --help")
            default: operands.append(word)
            }
        }
        if operands.count != 2 {
            throw UsageError("join needs a base URL and a path; see nk join --help")
        }
        var configuration = Agent.Configuration(baseURL: operands[0])
        configuration.keepsBasePath = keepsBasePath
        do throws(NetError) {
            return try configuration.url(for: operands[1]) + "\n"
        } catch {
            throw UsageError(error.message)
        }
    }
}
