import NetKit

/// `nk join BASE PATH`: resolves a path against a base URL.
enum JoinCommand {
    static let help = """
        Usage: nk join [--keep-base-path] BASE PATH

        Prints the URL of a request for PATH where BASE is the base URL: the base's
        path counts as a folder, and PATH is read there (RFC 3986, 5.2). A space, a
        character that is not ASCII and a '%' that two hex digits do not follow are
        percent-encoded. An empty BASE will do for a PATH that is a URL itself.

          --keep-base-path   a PATH that begins with '/' goes on from the base's path

        Exit code 2 and one line for what cannot be a URL.

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        var places: [String] = []
        var keepsBasePath = false
        var areOptionsOver = false
        for word in words {
            switch word {
            case "-h" where !areOptionsOver, "--help" where !areOptionsOver: return help
            case "--keep-base-path" where !areOptionsOver: keepsBasePath = true
            case "--" where !areOptionsOver: areOptionsOver = true
            case _ where !areOptionsOver && word.hasPrefix("-") && word != "-":
                throw UsageError("join knows no option \(word)")
            default: places.append(word)
            }
        }
        if places.count != 2 {
            throw UsageError("join takes a base URL and a path; nk join --help")
        }
        var configuration = Agent.Configuration(baseURL: places[0])
        configuration.keepsBasePath = keepsBasePath
        do throws(NetError) {
            return try configuration.url(for: places[1]) + "\n"
        } catch {
            throw UsageError(error.message)
        }
    }
}
