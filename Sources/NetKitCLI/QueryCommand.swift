import NetKit

/// `nk query`: reads a JSON object per line, and writes its query string.
struct QueryCommand {
    private static let help = """
        Usage: nk query [options]    reads a JSON object a line, writes its query a line

          --arrays brackets|indexed|repeat|comma   a[]=1  a[0]=1  a=1  a=1,2
          --nested brackets|dots                   a[b]=1  a.b=1
          --booleans numbers|words                 a=1  a=true
          --spaces percent|plus                    a%20b  a+b
          --order sorted|given                     by UTF-16 code units; as they come
          --set NAME                               the array NAME is a set; repeatable
          --url URL                                puts the query in its place in a URL

        The first word of each row is the default. A line that is no JSON object, or
        that cannot be written, ends nk with exit code 2 and a line that tells its
        number, and the byte or the key. What came before it has been written.

        """

    private var encoding = QueryEncoding()
    private var sets: [String] = []
    private var url: String?

    /// Exit codes: 0, 2 for an invalid argument or line, 23 and 26 for output and input.
    static func run(_ words: ArraySlice<String>) -> Int32 {
        do throws(Failure) {
            if words.contains("--help") || words.contains("-h") {
                try write(help)
                return ExitCode.success
            }
            return try QueryCommand(words).answer()
        } catch {
            return Command.complain(error)
        }
    }

    private init(_ words: ArraySlice<String>) throws(Failure) {
        var rest = words
        while let word = rest.popFirst() {
            guard Self.options.contains(word) else {
                throw Failure(ExitCode.usage, "query takes no '\(word)'; nk query --help lists what there is")
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
                throw Failure(ExitCode.usage, "\(option) '\(value)' is none of \(known)")
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

    private func answer() throws(Failure) -> Int32 {
        var input = InputLines()
        var output = ""
        var number = 0
        do throws(Failure) {
            while let line = try input.next() {
                number += 1
                output += try answer(to: line, number) + "\n"
                // Pending output is written before the next read may block.
                if input.waits || output.utf8.count > 1 << 16 {
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

    private func answer(to line: Bytes, _ number: Int) throws(Failure) -> String {
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
            let place = error.offset.map { ", byte \($0)" } ?? ""
            throw Failure(ExitCode.usage, "line \(number)\(place): \(Self.withoutPlace(error))")
        }
        guard case .object = parameters else {
            let byte = line.firstIndex(of: UInt8(ascii: "[")) ?? 0
            throw Failure(ExitCode.usage, "line \(number), byte \(byte): wanted an object, found an array")
        }
        for name in sets {
            if case .array(let values)? = parameters[name] {
                parameters[name] = .set(Set(values))
            }
        }
        return parameters
    }

    /// Removes the position from the beginning of a JSON error: the text is a single line.
    private static func withoutPlace(_ error: NetError) -> String {
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
