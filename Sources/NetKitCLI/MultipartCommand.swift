import NetKit

/// `nk multipart`: writes the bytes of a form to standard output, and its type and length to standard error.
enum MultipartCommand {
    private static let help = """
        Usage: nk multipart [-F PART]... [--form-string NAME=VALUE]...
                            [--boundary TEXT]

        Writes a multipart/form-data body to standard output, and its Content-Type and
        Content-Length to standard error. PART is as for nk -F:

          NAME=VALUE          a field
          NAME=@FILE          a file, or several with commas; - is standard input
          NAME=<FILE          a field with the contents of a file
          ...;type=TYPE;filename=NAME;headers='Name: value'

        Exit code: 0 success, 2 usage or invalid part, 26 cannot read a file.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(Failure) {
            let arguments = try ParsedArguments(words)
            if arguments.wantsHelp {
                try write { () throws(SystemError) in try Terminal.write(help, to: Terminal.standardOutput) }
                return ExitCode.success
            }
            try await write(arguments)
            return ExitCode.success
        } catch {
            if let message = error.message {
                Terminal.complain("nk: (\(error.exitCode)) \(Verbose.printable(message))")
            }
            return error.exitCode
        }
    }

    private struct ParsedArguments {
        var fields: [FormField] = []
        var boundary: String?
        var wantsHelp = false

        init(_ words: ArraySlice<String>) throws(Failure) {
            do throws(UsageError) {
                var rest = words
                while let word = rest.popFirst() {
                    try take(word, &rest)
                }
                if fields.count(where: { $0.readsStandardInput }) > 1 {
                    throw UsageError("standard input can be sent only once")
                }
            } catch {
                throw Failure(ExitCode.usage, error.message)
            }
        }

        private mutating func take(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
            switch word {
            case "-h", "--help": wantsHelp = true
            case "-F", "--form": fields += try FormField.parse(try rest.takeValue(of: word))
            case "--form-string": fields.append(try FormField(literal: try rest.takeValue(of: word)))
            case "--boundary": boundary = try rest.takeValue(of: word)
            case _ where word.hasPrefix("-F"): fields += try FormField.parse(String(word.dropFirst(2)))
            default: throw UsageError("multipart: unexpected argument '\(word)'; see nk multipart --help")
            }
        }
    }

    private static func write(_ arguments: ParsedArguments) async throws(Failure) {
        let (body, length) = try FormField.body(of: arguments.fields, boundary: arguments.boundary)
        Terminal.complain("Content-Type: \(body.contentType ?? "")")
        if let length {
            Terminal.complain("Content-Length: \(length)")
        }
        var failure: Failure?
        var count = 0
        do throws(NetError) {
            try await body.forEachPiece { piece throws(NetError) in
                count += piece.count
                do throws(Failure) {
                    try write { () throws(SystemError) in
                        try piece.withSpan { span throws(SystemError) in
                            try Terminal.write(span, to: Terminal.standardOutput)
                        }
                    }
                } catch {
                    failure = error
                    throw NetError(.stoppedByCaller, "standard output is closed")
                }
            }
        } catch {
            throw failure ?? Failure(error)
        }
        if length == nil {
            Terminal.complain("Content-Length: \(count)")
        }
    }

    private static func write(_ write: () throws(SystemError) -> Void) throws(Failure) {
        do throws(SystemError) {
            try write()
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }
}
