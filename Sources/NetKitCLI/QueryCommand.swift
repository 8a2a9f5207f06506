import NetKit

/// `nk query`: reads a JSON object per line, and writes its query string.
struct QueryCommand {
    private static let help = """
        Usage: nk query [options]

        Reads one JSON object per line and writes its query string. The first value of
        each option is the default.

          --arrays brackets|indexed|repeat|comma   a[]=1  a[0]=1  a=1  a=1,2
          --nested brackets|dots                   a[b]=1  a.b=1
          --booleans numbers|words                 a=1  a=true
          --spaces percent|plus                    a%20b  a+b
          --order sorted|given                     sorted by UTF-16, or as in the input
          --set NAME                               Treat array NAME as a set; repeatable
          --url URL                                Insert the query into URL

        At the first invalid line nk stops with exit code 2 and prints the line number,
        and the byte or the key. The output of the lines before it is complete.

        """

    private var encoding = QueryEncoding()
    private var sets: [String] = []
    private var url: String?

    /// Runs the command and returns the exit code: 0, 2 for an invalid argument or line, 23 if writing fails, or 26 if
    /// reading fails.
    static func run(_ words: ArraySlice<String>) -> Int32 {
        do throws(Failure) {
            if words.contains("--help") || words.contains("-h") {
                try write(help)
                return ExitCode.success
            }
            return try QueryCommand(words).convertLines()
        } catch {
            return Command.complain(error)
        }
    }

    private init(_ words: ArraySlice<String>) throws(Failure) {
        var rest = words
        while let word = rest.popFirst() {
            guard Self.options.contains(word) else {
                throw Failure(ExitCode.usage, "query: unexpected argument '\(word)'; see nk query --help")
            }
            guard let value = rest.popFirst() else {
                throw Failure(ExitCode.usage, "option \(word) needs a value")
            }
            try take(word, value)
        }
    }

    private static let options = [
        "--arrays", "--nested", "--booleans", "--spaces", "--order", "--set", "--url",
    ]

    private mutating func take(_ option: String, _ value: String) throws(Failure) {
        func choose<Style>(_ styles: KeyValuePairs<String, Style>) throws(Failure) -> Style {
            guard let style = styles.first(where: { $0.key == value }) else {
                let known = styles.map(\.key).joined(separator: ", ")
                throw Failure(ExitCode.usage, "invalid \(option) '\(value)': expected \(known)")
            }
            return style.value
        }
        switch option {
        case "--arrays":
            encoding.arrays = try choose([
                "brackets": .brackets, "indexed": .indexed, "repeat": .repeated, "comma": .commaSeparated,
            ])
        case "--nested": encoding.nested = try choose(["brackets": .brackets, "dots": .dots])
        case "--booleans": encoding.booleans = try choose(["numbers": .numbers, "words": .words])
        case "--spaces": encoding.spaces = try choose(["percent": .percent, "plus": .plus])
        case "--order": encoding.order = try choose(["sorted": .sorted, "given": .asGiven])
        case "--set": sets.append(value)
        default: url = value
        }
    }

    // MARK: Lines

    private func convertLines() throws(Failure) -> Int32 {
        var input = InputLines()
        var output = ""
        var number = 0
        do throws(Failure) {
            while let line = try input.next() {
                number += 1
                output += try query(for: line, number) + "\n"
                // The output is written before the next read, which may block.
                if input.mayBlock || output.utf8.count > 1 << 16 {
                    try Self.write(output)
                    output = ""
                }
            }
        } catch {
            try Self.write(output)
            throw error
        }
        try Self.write(output)
        return ExitCode.success
    }

    private func query(for line: Bytes, _ number: Int) throws(Failure) -> String {
        let parameters = try parameters(of: line, number)
        do throws(NetError) {
            guard let url else { return try encoding.query(parameters) }
            return try encoding.url(url, with: parameters)
        } catch {
            throw Failure(ExitCode.usage, "line \(number): \(error.message)")
        }
    }

    private func parameters(of line: Bytes, _ number: Int) throws(Failure) -> Parameters {
        var parameters: Parameters
        do throws(NetError) {
            parameters = try Parameters(json: line)
        } catch {
            let position = error.offset.map { ", byte \($0)" } ?? ""
            throw Failure(ExitCode.usage, "line \(number)\(position): \(Self.withoutPosition(error))")
        }
        guard case .object = parameters else {
            let byte = line.firstIndex(of: UInt8(ascii: "[")) ?? 0
            throw Failure(ExitCode.usage, "line \(number), byte \(byte): expected an object, found an array")
        }
        for name in sets {
            if case .array(let values)? = parameters[name] {
                parameters[name] = .set(Set(values))
            }
        }
        return parameters
    }

    /// Returns the message of a JSON error without the position at its beginning. The position is useless here, because
    /// the text is a single line.
    private static func withoutPosition(_ error: NetError) -> String {
        guard error.message.hasPrefix("line "), let end = error.message.firstRange(of: ": ")
        else { return error.message }
        return String(error.message[end.upperBound...])
    }

    private static func write(_ text: String) throws(Failure) {
        do throws(SystemError) {
            try Terminal.write(text, to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }
}
