import NetKit

/// `nk key METHOD URL`: prints the cache key of a request.
enum KeyCommand {
    static let help = """
        Usage: nk key [options] METHOD URL

        Prints the cache key of a request: the MD5, in hex, of its canonical form.

          -H, --header 'Name: value'   Include this header
              --params JSON            Include parameters: a JSON object or array
          -d, --data DATA              Include this body
              --user NAME              Include the user's name
              --explain                Print the canonical form instead of the key

        These do not change the key: the order of members and headers, the case of
        header names and of the host, a default port, and a fragment.

        Exit code: 0 success, 2 invalid request or usage.

        """

    private struct ParsedArguments {
        var operands: [String] = []
        var headers = Headers()
        var parameters: Parameters?
        var body: Bytes?
        var user = ""
        var isExplained = false
        var wantsHelp = false

        mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
            switch word {
            case "-h", "--help": wantsHelp = true
            case "--explain": isExplained = true
            case "-H", "--header": try rest.takeField(of: word, to: &headers)
            case "--params": parameters = try Self.parameters(try rest.takeValue(of: word))
            case "-d", "--data": body = Bytes(Array(try rest.takeValue(of: word, mayBeEmpty: true).utf8))
            case "--user": user = try rest.takeValue(of: word, mayBeEmpty: true)
            case _ where word.hasPrefix("-"): throw UsageError("key: unknown option \(word); see nk key --help")
            default: operands.append(word)
            }
        }

        private static func parameters(_ json: String) throws(UsageError) -> Parameters {
            do throws(NetError) {
                return try Parameters(json: json)
            } catch {
                throw UsageError("--params: \(error.message)")
            }
        }
    }

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        var rest = words
        var parsed = ParsedArguments()
        while let word = rest.popFirst() {
            if word == "--" {
                parsed.operands += rest
                break
            }
            try parsed.take(word, &rest)
        }
        if parsed.wantsHelp {
            return help
        }
        if parsed.operands.count != 2 {
            throw UsageError("key needs a method and a URL; see nk key --help")
        }
        do throws(NetError) {
            let key = try CacheKey(
                method: Method(rawValue: parsed.operands[0]), url: parsed.operands[1], headers: parsed.headers,
                parameters: parsed.parameters, body: parsed.body, scope: parsed.user)
            return parsed.isExplained ? key.explanation : key.name + "\n"
        } catch {
            throw UsageError(error.message)
        }
    }
}
