import NetKit

/// `nk validate`: checks whether texts are JSON and match a shape or a schema.
struct ValidateCommand {
    private static let help = """
        Usage: nk validate [--shape FILE | --schema FILE] [--lenient-null] [--tree]
                           [FILE...]

        Checks that each file, or standard input (-), is JSON (RFC 8259) in UTF-8.
        Prints "ok", or FILE:LINE:COLUMN with the error and its JSON Pointer.

              --shape FILE      Check the files against this shape as well
              --schema FILE     Check the files against this JSON Schema (2020-12);
                                formats are assertions
              --lenient-null    Accept null for any member, and booleans as numbers
              --tree            Print each valid file as cJSON prints its tree;
                                errors go to standard error
          -h, --help            Print this help

        Files of any size are checked in constant memory, up to the first error. A file
        for --tree has at most 64 MiB.
        Exit code: 0 all valid, 1 one is invalid or cannot be read, 2 usage or invalid
        shape.

        """

    private var files: [String] = []
    private var shapePath: String?
    private var schemaPath: String?
    private var isLenient = false
    private var printsTrees = false
    private var wantsHelp = false

    static func run(_ words: ArraySlice<String>) -> Int32 {
        do throws(UsageError) {
            let command = try ValidateCommand(parsing: words)
            if command.wantsHelp {
                return Command.show(help)
            }
            do throws(Failure) {
                return try command.checkFiles()
            } catch {
                return Command.complain(error)
            }
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private init(parsing words: ArraySlice<String>) throws(UsageError) {
        var remaining = words
        var areOptionsOver = false
        while let word = remaining.popFirst() {
            switch word {
            case _ where areOptionsOver || word == "-" || !word.hasPrefix("-"): files.append(word)
            case "--": areOptionsOver = true
            case "-h", "--help": wantsHelp = true
            case "--lenient-null": isLenient = true
            case "--tree": printsTrees = try Self.requireTrees()
            case "--shape":
                shapePath = try remaining.takeValue(of: word)
            case "--schema":
                schemaPath = try remaining.takeValue(of: word)
            default: throw UsageError("validate: unknown option \(word); see nk validate --help")
            }
        }
        if files.isEmpty {
            files = ["-"]
        }
        if shapePath != nil && schemaPath != nil {
            throw UsageError("--shape and --schema exclude each other")
        }
        if files.count(where: { $0 == "-" }) + (shapePath == "-" || schemaPath == "-" ? 1 : 0) > 1 {
            throw UsageError("standard input can be read only once")
        }
        if isLenient && shapePath == nil && !wantsHelp {
            throw UsageError("--lenient-null requires --shape")
        }
    }

    /// Returns true if this nk was built with cJSON, and throws an error otherwise.
    private static func requireTrees() throws(UsageError) -> Bool {
        #if CJSON
        return true
        #else
        throw UsageError("--tree: this nk was built without cJSON; build it with --traits CJSON")
        #endif
    }

    /// The outcome of the check of a file.
    private enum Outcome {
        /// The file is valid; the text is printed.
        case valid([UInt8])
        /// The file is not valid; the line describes the error.
        case invalid(String)
    }

    /// Checks all files and returns the exit code.
    private func checkFiles() throws(Failure) -> Int32 {
        let expectation = try expectation()
        var code = ExitCode.success
        for file in files {
            let outcome: Outcome
            do throws(SystemError) {
                outcome = try printsTrees ? tree(in: file, expectation) : check(file, expectation)
            } catch {
                let source = file == "-" ? "standard input" : Verbose.printable(file)
                Terminal.complain("nk: (\(ExitCode.read)) cannot read \(source): \(error.message)")
                code = ExitCode.invalid
                continue
            }
            do throws(SystemError) {
                switch outcome {
                case .valid(let text): try Terminal.write(text.span, to: Terminal.standardOutput)
                case .invalid(let line):
                    code = ExitCode.invalid
                    // Standard output has only JSON.
                    try Terminal.write(line + "\n", to: printsTrees ? Terminal.standardError : Terminal.standardOutput)
                }
            } catch {
                throw Failure(writing: error, to: nil)
            }
        }
        return code
    }

    private func expectation() throws(Failure) -> JSONExpectation {
        var expectation = JSONExpectation()
        expectation.isLenient = isLenient
        if let shapePath {
            expectation.shape = try Self.shape(in: shapePath)
        } else if let schemaPath {
            expectation.schema = try Self.schema(in: schemaPath)
        }
        return expectation
    }

    /// Reads the shape in a file.
    static func shape(in path: String) throws(Failure) -> JSONShape {
        let document = try document(in: path, "shape")
        do throws(NetError) {
            return try JSONShape(document: Bytes(document))
        } catch {
            throw Failure(ExitCode.usage, "invalid shape in \(path): \(error.message)")
        }
    }

    /// Reads the schema in a file.
    static func schema(in path: String) throws(Failure) -> JSONSchema {
        let document = try document(in: path, "schema")
        do throws(NetError) {
            return try schema(String(decoding: document, as: UTF8.self))
        } catch {
            throw Failure(ExitCode.usage, "invalid schema in \(path): \(error.message)")
        }
    }

    /// Compiles a schema. Formats are assertions, in all commands of nk.
    static func schema(_ text: String) throws(NetError) -> JSONSchema {
        try JSONSchema(text, assertsFormats: true)
    }

    private static func document(in path: String, _ kind: String) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            return try InputFile.contents(of: path)
        } catch {
            let source = path == "-" ? "standard input" : path
            throw Failure(ExitCode.usage, "cannot read the \(kind) in \(source): \(error.message)")
        }
    }

    /// Checks a file piece by piece.
    private func check(_ file: String, _ expectation: JSONExpectation) throws(SystemError) -> Outcome {
        let input = try InputFile(file)
        let check: JSONCheck
        do throws(NetError) {
            check = try JSONCheck(expectation)
        } catch {
            return .invalid(Self.line(for: file, error))
        }
        while true {
            let piece = try input.next()
            do throws(NetError) {
                if piece.isEmpty {
                    try check.finish()
                    return .valid(Array("ok\n".utf8))
                }
                try check.feed(Bytes(piece))
            } catch {
                return .invalid(Self.line(for: file, error))
            }
        }
    }

    /// Checks a file and reads it as a tree of cJSON.
    private func tree(in file: String, _ expectation: JSONExpectation) throws(SystemError) -> Outcome {
        #if CJSON
        let text = try InputFile.contents(of: file)
        do throws(NetError) {
            let check = try JSONCheck(expectation)
            try check.feed(Bytes(text))
            try check.finish()
        } catch {
            return .invalid(Self.line(for: file, error))
        }
        do throws(CJSONTreeError) {
            return .valid(try CJSONTree.printed(text) + [UInt8(ascii: "\n")])
        } catch {
            let position = error.offset.map { Self.position(of: $0, in: text) } ?? ""
            return .invalid(Verbose.printable("\(file)\(position): no tree of cJSON, \(error.message)"))
        }
        #else
        return try check(file, expectation)
        #endif
    }

    /// Returns ":LINE:COLUMN" of an offset. Columns count characters.
    private static func position(of offset: Int, in text: [UInt8]) -> String {
        let before = text[..<offset]
        let lineFeed = UInt8(ascii: "\n")
        let line = before.split(separator: lineFeed, omittingEmptySubsequences: false).last ?? []
        let column = line.count { $0 & 0xC0 != 0x80 } + 1
        return ":\(before.count { $0 == lineFeed } + 1):\(column)"
    }

    private static func line(for file: String, _ error: NetError) -> String {
        let name = Verbose.printable(file)
        guard let fault = error.jsonFaults.first else { return "\(name): \(Verbose.printable(error.message))" }
        var line = "\(name):\(fault.line):\(fault.column): "
        line += fault.pointer == nil ? "not JSON" : fault.keyword == nil ? "wrong shape" : "wrong value"
        line += ", expected \(fault.wanted), found \(fault.found)"
        if let pointer = fault.pointer {
            line += ", at \(pointer.isEmpty ? "the root" : pointer)"
        }
        if let keyword = fault.keyword {
            line += " (\(keyword))"
        }
        return Verbose.printable(line)
    }
}
