import NetKit

/// `nk mock`: runs a server that replies as described by a file, for tests.
enum MockCommand {
    static let help = """
        Usage: nk mock [options] FILE

        Serves the responses of a JSON file (- is standard input):

          {"routes": [{"method": "GET", "path": "/users/*", "query": {"page": "1"},
            "reply": {"status": 200, "json": {"id": 7}}}], "otherwise": {"status": 404}}

        "replies" are sent in order; the last one repeats. A reply may have headers,
        body, json, base64 or file, delay_ms, drip_bytes and drip_ms, chunk_bytes, and
        a fault: reset, close, truncate, stall, garbage. With request_schema, a request
        that does not match gets 422. docs/nk.md has the reference.
        Prints the server's URL, then one line of JSON for each request.

        \(Subcommand.mock.optionLines)

        Stop it with Ctrl-C or SIGTERM. Exit code: 0 stopped, 2 usage, invalid FILE or
        address not available, 23 standard output closed, 26 cannot read FILE.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            var limit = Int.max
            let arguments = try ServerArguments(words, of: "mock") { (word, rest) throws(UsageError) in
                guard word == "--count" else { return false }
                let text = try rest.takeValue(of: word)
                guard let number = Int(text), number > 0 else {
                    throw UsageError("--count '\(text)' is not a number from 1")
                }
                limit = number
                return true
            }
            if arguments.wantsHelp {
                return Command.show(help)
            }
            guard let path = arguments.path else { throw UsageError("mock needs a file; see nk mock --help") }
            do throws(Failure) {
                return await serve(try document(path), arguments, limit: limit)
            } catch {
                return Command.complain(error)
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func serve(_ document: MockDocument, _ arguments: ServerArguments, limit: Int) async -> Int32 {
        let ending = Ending()
        let isQuiet = arguments.isQuiet
        let service = MockService(document) { line, number in
            if !isQuiet, number <= limit {
                do throws(SystemError) {
                    try Terminal.write(line + "\n", to: Terminal.standardOutput)
                } catch {
                    ending.end(Command.complain(Failure(writing: error, to: nil)))
                }
            }
        } replied: { count in
            if count == limit {
                ending.end(ExitCode.success)
            }
        }
        return await arguments.listen(with: service, until: ending)
    }

    private static func document(_ path: String) throws(Failure) -> MockDocument {
        let name = path == "-" ? "standard input" : path
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
        let text: [UInt8]
        do throws(SystemError) {
            text = try InputFile.contents(of: path)
        } catch {
            throw Failure(reading: error, from: path)
        }
        do throws(MockFault) {
            return try MockDocument(Bytes(text)) { (file) throws(Failure) in
                let location = file.hasPrefix("/") ? file : folder + file
                return try contents(ofRegular: location)
            }
        } catch {
            switch error {
            case .document(let fault): throw Failure(ExitCode.usage, "\(name)\(fault.location): \(fault.message)")
            case .file(let failure): throw failure
            }
        }
    }

    private static func contents(ofRegular path: String) throws(Failure) -> [UInt8] {
        let contents: [UInt8]?
        do throws(SystemError) {
            contents = try InputFile(regular: path)?.contents(maxBytes: InputFile.maxDataBytes)
        } catch {
            throw Failure(reading: error, from: path)
        }
        guard let contents else { throw Failure(ExitCode.read, "cannot read \(path): not a regular file") }
        return contents
    }
}
