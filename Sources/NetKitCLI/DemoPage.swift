/// Writes the output of the demonstration in 80 columns: a number, a name and a result for each step.
final class DemoPage {
    /// The error that ended the output, or `nil`.
    private(set) var fault: String?
    private let hasColours = Terminal.hasColours

    func title(_ text: String) {
        write(paint("1", text) + "\n")
    }

    func step(_ number: Int, _ name: String, _ lines: [String]) {
        let margin = String(repeating: " ", count: 18)
        let padding = String(repeating: " ", count: max(1, 16 - name.count))
        for (index, line) in lines.flatMap({ Self.wrapped($0, at: 62) }).enumerated() {
            write(index == 0 ? "\(number) \(paint("36", name))\(padding)\(line)\n" : "\(margin)\(line)\n")
        }
    }

    func end(_ text: String) {
        write(paint("32", text) + "\n")
    }

    private static func wrapped(_ line: String, at width: Int) -> [String] {
        var lines = [""]
        for word in line.split(separator: " ") {
            if let last = lines.last, !last.isEmpty, last.count + 1 + word.count > width {
                lines.append("")
            }
            lines[lines.count - 1] += (lines.last == "" ? "" : " ") + word
        }
        return lines
    }

    private func paint(_ colour: String, _ text: String) -> String {
        hasColours ? "\u{1b}[\(colour)m\(text)\u{1b}[0m" : text
    }

    private func write(_ text: String) {
        if fault == nil {
            do throws(SystemError) {
                try Terminal.write(text, to: Terminal.standardOutput)
            } catch {
                fault = "cannot write to standard output: \(error.message)"
            }
        }
    }
}
