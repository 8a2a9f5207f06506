import NetKit

/// A file of -K with one option per line, in curl's format: `name = value`, `-x value`, or a name alone. A value with
/// spaces is in double quotes. A line that begins with "#" is a comment.
enum ConfigFile {
    struct Line {
        let number: Int
        /// The option as on the command line, such as "-x" or "--user".
        let option: String
        let value: String?
    }

    static func lines(of text: String) throws(UsageError) -> [Line] {
        var lines: [Line] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var rest = line.unicodeScalars[...]
            skip(&rest) { isBlank($0) }
            guard let first = rest.first, first != "#" else { continue }
            let word = String(rest.prefix { !isBlank($0) && $0 != "=" && $0 != ":" })
            rest = rest.dropFirst(word.unicodeScalars.count)
            skip(&rest) { isBlank($0) || $0 == "=" || $0 == ":" }
            let option = word.behind("-") == nil ? "--\(word)" : word
            if word.isEmpty {
                throw UsageError("line \(index + 1) has no option's name")
            }
            lines.append(.init(number: index + 1, option: option, value: try value(rest, in: index + 1)))
        }
        return lines
    }

    private static func value(_ text: Substring.UnicodeScalarView, in line: Int) throws(UsageError) -> String? {
        guard let first = text.first else { return nil }
        if first != "\"" {
            return String(text.prefix { !isBlank($0) })
        }
        var value = String.UnicodeScalarView()
        var rest = text.dropFirst()
        let escapes: [Unicode.Scalar: Unicode.Scalar] = ["t": "\t", "n": "\n", "r": "\r", "v": "\u{0b}"]
        while let scalar = rest.popFirst() {
            if scalar == "\"" {
                return String(value)
            }
            guard scalar == "\\", let escaped = rest.popFirst() else {
                value.append(scalar)
                continue
            }
            value.append(escapes[escaped] ?? escaped)
        }
        throw UsageError("line \(line) has no closing quote")
    }

    private static func skip(_ text: inout Substring.UnicodeScalarView, while matches: (Unicode.Scalar) -> Bool) {
        text = text.drop(while: matches)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar == " " || scalar == "\t" }
}

extension Arguments {
    /// The largest number of files of -K that name each other.
    private static let maxConfigDepth = 10

    /// Applies the options of a file. Error messages contain the option's name, but not its value, which may be a
    /// password.
    mutating func apply(configFile path: String) throws(UsageError) {
        guard configDepth < Self.maxConfigDepth else {
            throw UsageError("-K \(path): too many files name each other")
        }
        let text: String
        do throws(SystemError) {
            text = String(decoding: try InputFile.contents(of: path), as: UTF8.self)
        } catch {
            let name = path == "-" ? "standard input" : path
            throw UsageError("cannot read \(name): \(error.message)", exitCode: ExitCode.read)
        }
        configDepth += 1
        defer { configDepth -= 1 }
        do throws(UsageError) {
            for line in try ConfigFile.lines(of: text) {
                var rest = (line.value.map { [$0] } ?? [])[...]
                try take(option: line.option, &rest)
                if !rest.isEmpty {
                    throw UsageError("\(line.option) in line \(line.number) takes no value")
                }
            }
        } catch {
            throw UsageError("-K \(path): \(error.message)", exitCode: error.exitCode)
        }
    }
}
