import NetKit

/// `nk key METHOD URL`: prints the cache key of a request.
enum KeyCommand {
    static let help = """
        Usage: nk key [options] METHOD URL

        Prints the cache key of a request: the MD5, in hex, of its description.

          -H, --header 'Name: value'   a field that chooses the response
              --params JSON            parameters: an object or an array
          -d, --data DATA              a body, as it is
              --user NAME              whose response it is
              --explain                prints the description instead, in lines

        The order of an object's names and of fields, the case of field names and of
        the host, a default port and a fragment make no difference; everything else
        does.
        Exit code 2 and one line for what cannot be sent.

        """

    private struct Question {
        var places: [String] = []
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
            case _ where word.hasPrefix("-"): throw UsageError("key knows no option \(word)")
            default: places.append(word)
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
        var question = Question()
        while let word = rest.popFirst() {
            if word == "--" {
                question.places += rest
                break
            }
            try question.take(word, &rest)
        }
        if question.wantsHelp {
            return help
        }
        if question.places.count != 2 {
            throw UsageError("key takes a method and a URL; nk key --help")
        }
        do throws(NetError) {
            let key = try CacheKey(
                method: Method(rawValue: question.places[0]), url: question.places[1], headers: question.headers,
                parameters: question.parameters, body: question.body, scope: question.user)
            return question.isExplained ? key.explanation : key.name + "\n"
        } catch {
            throw UsageError(error.message)
        }
    }
}
