import NetKit

/// `nk validate`: checks whether texts are JSON and match a shape.
struct ValidateCommand {
    private static let help = """
        Usage: nk validate [--shape FILE] [--lenient-null] [FILE...]

        Tells of each file, or of standard input (-), whether it is JSON (RFC 8259) in
        UTF-8, in a line: "ok", or FILE:LINE:COLUMN: what, wanted, found, at /pointer

              --shape FILE      a shape document that each file has to match as well
              --lenient-null    null passes as any member, true and false as numbers
          -h, --help

        Files of any size are read in flat memory, up to their first wrong byte.
        Exit codes: 0 all are ok, 1 one is not or cannot be read, 2 usage, bad shape.

        """

    private var files: [String] = []
    private var shapePath: String?
    private var isLenient = false
    private var wantsHelp = false

    static func run(_ words: ArraySlice<String>) -> Int32 {
        do throws(UsageError) {
            let command = try ValidateCommand(parsing: words)
            if command.wantsHelp {
                return Command.show(help)
            }
            do throws(Failure) {
                return try command.answer()
            } catch {
                return Command.complain(error)
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private init(parsing words: ArraySlice<String>) throws(UsageError) {
        var rest = words
        var areOptionsOver = false
        while let word = rest.popFirst() {
            switch word {
            case _ where areOptionsOver || word == "-" || !word.hasPrefix("-"): files.append(word)
            case "--": areOptionsOver = true
            case "-h", "--help": wantsHelp = true
            case "--lenient-null": isLenient = true
            case "--shape":
                shapePath = try rest.takeValue(of: word)
            default: throw UsageError("validate has no option \(word)")
            }
        }
        if files.isEmpty {
            files = ["-"]
        }
        if files.count(where: { $0 == "-" }) + (shapePath == "-" ? 1 : 0) > 1 {
            throw UsageError("standard input can be read once only")
        }
        if isLenient && shapePath == nil && !wantsHelp {
            throw UsageError("--lenient-null goes with --shape")
        }
    }

    /// Returns the exit code.
    private func answer() throws(Failure) -> Int32 {
        let expectation = try expectation()
        var code = ExitCode.success
        for file in files {
            let fault: String?
            do throws(SystemError) {
                fault = try self.fault(in: file, expectation)
            } catch {
                let place = file == "-" ? "standard input" : Verbose.printable(file)
                Terminal.complain("nk: (\(ExitCode.read)) cannot read \(place): \(error.message)")
                code = ExitCode.invalid
                continue
            }
            do throws(SystemError) {
                try Terminal.write((fault ?? "ok") + "\n", to: Terminal.standardOutput)
            } catch {
                throw Failure(writing: error, to: nil)
            }
            if fault != nil {
                code = ExitCode.invalid
            }
        }
        return code
    }

    private func expectation() throws(Failure) -> JSONExpectation {
        var expectation = JSONExpectation()
        expectation.isLenient = isLenient
        if let shapePath {
            expectation.shape = try Self.shape(in: shapePath)
        }
        return expectation
    }

    /// Reads the shape in a file.
    static func shape(in path: String) throws(Failure) -> JSONShape {
        let document: [UInt8]
        do throws(SystemError) {
            document = try InputFile.contents(of: path)
        } catch {
            let place = path == "-" ? "standard input" : path
            throw Failure(ExitCode.usage, "cannot read the shape in \(place): \(error.message)")
        }
        do throws(NetError) {
            return try JSONShape(document: Bytes(document))
        } catch {
            throw Failure(ExitCode.usage, "the shape in \(path) is wrong: \(error.message)")
        }
    }

    /// Returns the error message, or `nil` if the file is valid.
    private func fault(in file: String, _ expectation: JSONExpectation) throws(SystemError) -> String? {
        let input = try InputFile(file)
        let check: JSONCheck
        do throws(NetError) {
            check = try JSONCheck(expectation)
        } catch {
            return Self.line(for: file, error)
        }
        while true {
            let piece = try input.next()
            do throws(NetError) {
                if piece.isEmpty {
                    try check.finish()
                    return nil
                }
                try check.feed(Bytes(piece))
            } catch {
                return Self.line(for: file, error)
            }
        }
    }

    private static func line(for file: String, _ error: NetError) -> String {
        let name = Verbose.printable(file)
        guard let fault = error.jsonFaults.first else { return "\(name): \(Verbose.printable(error.message))" }
        var line = "\(name):\(fault.line):\(fault.column): "
        line += fault.pointer == nil ? "not JSON" : "another shape"
        line += ", wanted \(fault.wanted), found \(fault.found)"
        if let pointer = fault.pointer {
            line += ", at \(pointer.isEmpty ? "the root" : pointer)"
        }
        return Verbose.printable(line)
    }
}
