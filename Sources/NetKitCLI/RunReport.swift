import NetKit

/// Creates the output of `nk run`. Pure, so that it can be tested with any terminal width.
struct RunReport {
    let entries: [StepHistory.Entry]
    let kind: RunDocument.Kind
    let exitCode: Int32

    init(_ entries: [StepHistory.Entry], kind: RunDocument.Kind, exitCode: Int32) {
        // Times are relative to the start of the first step.
        let origin = entries.compactMap(\.began).min() ?? .zero
        self.entries = entries.map { entry in
            var entry = entry
            entry.began = entry.began.map { $0 - origin }
            entry.ended = entry.ended.map { $0 - origin }
            return entry
        }
        self.kind = kind
        self.exitCode = exitCode
    }

    private var totalTime: Duration { entries.compactMap(\.ended).max() ?? .zero }

    /// Returns the width of the name column, which leaves space for the other columns and the bars.
    private static func nameWidth(_ entries: [StepHistory.Entry], _ width: Int) -> Int {
        let longest = entries.map { Format.columns(of: Verbose.printable($0.name)) }.max() ?? 0
        return max(4, min(longest, width / 3, width - 30))
    }

    // MARK: Text

    /// Returns lines of at most `width` columns, without counting colour sequences.
    func lines(width: Int, hasColours: Bool) -> [String] {
        if entries.isEmpty {
            return ["no steps to send"]
        }
        let nameWidth = Self.nameWidth(entries, width)
        return table(width, nameWidth, hasColours) + [""] + waterfall(width, nameWidth)
    }

    private func table(_ width: Int, _ nameWidth: Int, _ hasColours: Bool) -> [String] {
        let statusWidth = entries.map(\.statusText.count).max().map { max(6, $0) } ?? 6
        let title = Format.left("step", nameWidth) + "  " + Format.left("status", statusWidth) + Format.right("size", 9)
        var lines = [Format.shortened(title + Format.right("time", 13), to: width)]
        for entry in entries {
            let name = Format.left(Format.shortened(Verbose.printable(entry.name), to: nameWidth), nameWidth)
            let size = Format.right(entry.response.map { Format.size($0.bytes.count) } ?? "-", 9)
            let time = Format.right(entry.elapsed.map(Format.milliseconds) ?? "-", 13)
            let availableWidth = max(0, width - nameWidth - 2)
            let cells = Format.shortened(Format.left(entry.statusText, statusWidth) + size + time, to: availableWidth)
            lines.append(
                name + "  " + (hasColours ? Self.coloured(cells, entry, statusWidth) : cells))
            if let error = entry.error {
                let text = entry.isCancelled ? cancellation : Verbose.printable(error.message)
                lines += Self.wrapped(text, width: width)
            }
        }
        return lines
    }

    /// Why steps were cancelled: the first failure of another step, or the user.
    private var cancellation: String {
        let failed = entries.indices.filter { entries[$0].error != nil && !entries[$0].isCancelled }
        let first = failed.min { (entries[$0].ended ?? .zero) < (entries[$1].ended ?? .zero) }
        return first.map { "cancelled because step \($0 + 1) failed" } ?? "cancelled"
    }

    private static func coloured(_ cells: String, _ entry: StepHistory.Entry, _ statusWidth: Int) -> String {
        let colour =
            switch entry.state {
            case .answered: "32"
            case .failed: "31"
            default: "2"
            }
        return "\u{1b}[\(colour)m\(cells.prefix(statusWidth))\u{1b}[0m\(cells.dropFirst(statusWidth))"
    }

    /// Wraps a text to at most three indented lines.
    private static func wrapped(_ text: String, width: Int) -> [String] {
        let availableWidth = max(8, width - 2)
        var lines: [String] = []
        var line = ""
        for statusText in text.split(separator: " ") {
            if !line.isEmpty, Format.columns(of: line) + 1 + Format.columns(of: String(statusText)) > availableWidth {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + statusText
        }
        lines.append(line)
        return lines.prefix(3).map { "  " + Format.shortened($0, to: availableWidth) }
    }

    // MARK: Timeline

    private func waterfall(_ width: Int, _ nameWidth: Int) -> [String] {
        let availableWidth = width - nameWidth - 2
        guard availableWidth >= 8, totalTime > .zero else { return [] }
        var lines = entries.map { entry in
            let name = Format.left(Format.shortened(Verbose.printable(entry.name), to: nameWidth), nameWidth)
            return Self.trimmed(name + "  " + bar(entry, availableWidth))
        }
        let end = Format.milliseconds(totalTime)
        lines.append(
            String(repeating: " ", count: nameWidth + 2) + "0" + Format.right(end, max(end.count, availableWidth - 1)))
        lines.append(Format.shortened(". queued  - connecting  = waiting  # receiving", to: width))
        return lines.map { Format.shortened($0, to: width) }
    }

    /// Returns the bar of a step. Each column stands for an interval of time, and shows the last phase in that
    /// interval.
    private func bar(_ entry: StepHistory.Entry, _ availableWidth: Int) -> String {
        guard let began = entry.began, let ended = entry.ended else { return "" }
        let phaseEnds = Self.phaseEnds(of: entry, began, ended)
        func column(_ time: Duration) -> Int {
            min(availableWidth, max(0, Int(time / totalTime * Double(availableWidth))))
        }
        var cells = Array(repeating: Character(" "), count: availableWidth)
        let first = min(column(began), availableWidth - 1)
        var from = first
        for (mark, end) in phaseEnds {
            for index in from..<max(from, column(end)) {
                cells[index] = mark
            }
            from = max(from, column(end))
        }
        // A step that is shorter than one interval still gets a mark.
        if cells[first] == " " {
            cells[first] = phaseEnds.last?.mark ?? "="
        }
        return String(cells)
    }

    /// Returns the ends of the phases of a step, in order.
    private static func phaseEnds(
        of entry: StepHistory.Entry, _ began: Duration, _ ended: Duration
    ) -> [(mark: Character, end: Duration)] {
        guard let first = entry.metrics.first, let last = entry.metrics.last else { return [("=", ended)] }
        var phaseEnds: [(mark: Character, end: Duration)] = []
        for (mark, time) in [
            (".", first.started), ("-", first.ready), ("=", last.firstByte), ("#", last.ended),
        ] as [(Character, Duration?)] {
            if let time {
                phaseEnds.append((mark, min(ended, began + time)))
            }
        }
        phaseEnds.append(
            (phaseEnds.last?.mark == "." || phaseEnds.isEmpty ? "=" : phaseEnds[phaseEnds.count - 1].mark, ended))
        return phaseEnds
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }

    // MARK: JSON

    /// The report as one JSON object in one line.
    var json: String {
        let steps = entries.map { entry -> JSONValue in
            var members: [JSONValue.Member] = [
                .init(name: "name", value: .string(entry.name)), .init(name: "state", value: .string(entry.stateName)),
            ]
            func add(_ name: String, _ value: JSONValue?) {
                if let value {
                    members.append(.init(name: name, value: value))
                }
            }
            let response = entry.response
            add("url", response.flatMap { $0.url.isEmpty ? nil : .string($0.url) })
            add("status", response.map { .number(JSONNumber($0.status)) })
            add("bytes", response.map { .number(JSONNumber($0.bytes.count)) })
            add("begin_ms", entry.began.map(Self.milliseconds))
            add("end_ms", entry.ended.map(Self.milliseconds))
            add("error", entry.error.map { ["code": .string("\($0.code)"), "message": .string($0.message)] })
            return .object(members)
        }
        let report: JSONValue = [
            "kind": .string(kind.rawValue), "ok": .boolean(exitCode == 0), "exit_code": .number(JSONNumber(exitCode)),
            "total_ms": Self.milliseconds(totalTime), "steps": .array(steps),
        ]
        return report.description
    }

    private static func milliseconds(_ time: Duration) -> JSONValue {
        .number(JSONNumber(floatLiteral: ((time / .milliseconds(1)) * 1000).rounded() / 1000))
    }
}

extension StepHistory.Entry {
    fileprivate var isCancelled: Bool { error?.code == .cancelled }

    /// The status of the response, or a word if there is none.
    fileprivate var statusText: String {
        if let status = response?.status, status > 0 {
            return String(status)
        }
        return switch state {
        case .failed: isCancelled ? "cancelled" : "failed"
        case .unsent, .running, .answered: "unsent"
        }
    }

    fileprivate var stateName: String {
        switch state {
        case .answered: "answered"
        case .failed(let error): error.code == .cancelled ? "cancelled" : "failed"
        case .unsent, .running: "unsent"
        }
    }
}
