import NetKit

/// `nk mock`: runs a server that replies as described by a file, for tests.
enum MockCommand {
    static let help = """
        Usage: nk mock [options] FILE

        Answers as a JSON file (or -) says:

          {"routes": [{"method": "GET", "path": "/users/*", "query": {"page": "1"},
            "reply": {"status": 200, "json": {"id": 7}}}], "otherwise": {"status": 404}}

        "replies" are given one after the other, the last one from then on. A reply
        may have headers, body, json, base64 or file, delay_ms, drip_bytes and
        drip_ms, chunk_bytes, and a fault: reset, close, truncate, stall, garbage.
        docs/nk.md tells the rest. The URL is the first line of standard output; each
        request is a line of JSON behind it.

        \(Subcommand.mock.optionLines)

        Ends with 0 by Ctrl-C or SIGTERM. Exit codes: 2 usage, a file that is not as
        it should be, an address or port that cannot be had, 23 nobody reads the
        output, 26 cannot read.

        """

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            var limit = Int.max
            let words = try ListeningWords(words, of: "mock") { (word, rest) throws(UsageError) in
                guard word == "--count" else { return false }
                let text = try rest.takeValue(of: word)
                guard let number = Int(text), number > 0 else {
                    throw UsageError("--count '\(text)' is not a number from 1")
                }
                limit = number
                return true
            }
            if words.wantsHelp {
                return Command.show(help)
            }
            guard let path = words.path else { throw UsageError("mock takes a file; nk mock --help") }
            do throws(Failure) {
                return await serve(try document(path), words, limit: limit)
            } catch {
                return Command.complain(error)
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private static func serve(_ document: MockDocument, _ words: ListeningWords, limit: Int) async -> Int32 {
        let ending = Ending()
        let isQuiet = words.isQuiet
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
        return await words.listen(with: service, until: ending)
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
                let place = file.hasPrefix("/") ? file : folder + file
                return try contents(ofRegular: place)
            }
        } catch {
            switch error {
            case .document(let fault): throw Failure(ExitCode.usage, "\(name)\(fault.place): \(fault.message)")
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
        guard let contents else { throw Failure(ExitCode.read, "cannot read \(path): it is no regular file") }
        return contents
    }
}
