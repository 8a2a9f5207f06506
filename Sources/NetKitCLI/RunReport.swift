import NetKit

/// The output of `nk run`. Pure, so that it can be tested with any width.
struct RunReport {
    let entries: [RunBoard.Entry]
    let kind: RunDocument.Kind
    let exitCode: Int32

    init(_ entries: [RunBoard.Entry], kind: RunDocument.Kind, exitCode: Int32) {
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

    private var whole: Duration { entries.compactMap(\.ended).max() ?? .zero }

    /// Leaves room for the other columns and the bars.
    private static func nameWidth(_ entries: [RunBoard.Entry], _ width: Int) -> Int {
        let longest = entries.map { Format.columns(of: Verbose.printable($0.name)) }.max() ?? 0
        return max(4, min(longest, width / 3, width - 30))
    }

    // MARK: Text

    /// Returns lines of at most `width` columns, without counting colour sequences.
    func lines(width: Int, hasColours: Bool) -> [String] {
        if entries.isEmpty {
            return ["nothing to send"]
        }
        let nameWidth = Self.nameWidth(entries, width)
        return table(width, nameWidth, hasColours) + [""] + waterfall(width, nameWidth)
    }

    private func table(_ width: Int, _ nameWidth: Int, _ hasColours: Bool) -> [String] {
        let title = Format.left("step", nameWidth) + "  " + Format.left("status", 6) + Format.right("size", 9)
        var lines = [Format.shortened(title + Format.right("time", 13), to: width)]
        for entry in entries {
            let name = Format.left(Format.shortened(Verbose.printable(entry.name), to: nameWidth), nameWidth)
            let size = Format.right(entry.response.map { Format.size($0.bytes.count) } ?? "-", 9)
            let time = Format.right(entry.took.map(Format.milliseconds) ?? "-", 13)
            let room = max(0, width - nameWidth - 2)
            let cells = Format.shortened(Format.left(entry.word, 6) + size + time, to: room)
            lines.append(
                name + "  " + (hasColours ? Self.coloured(cells, entry) : cells))
            if let error = entry.error, error.code != .cancelled {
                lines += Self.wrapped(Verbose.printable(error.message), width: width)
            }
        }
        return lines
    }

    private static func coloured(_ cells: String, _ entry: RunBoard.Entry) -> String {
        let colour =
            switch entry.state {
            case .answered: "32"
            case .failed: "31"
            default: "2"
            }
        return "\u{1b}[\(colour)m\(cells.prefix(6))\u{1b}[0m\(cells.dropFirst(6))"
    }

    /// Wraps a text to at most three indented lines.
    private static func wrapped(_ text: String, width: Int) -> [String] {
        let room = max(8, width - 2)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty, Format.columns(of: line) + 1 + Format.columns(of: String(word)) > room {
                lines.append(line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        lines.append(line)
        return lines.prefix(3).map { "  " + Format.shortened($0, to: room) }
    }

    // MARK: Timeline

    private func waterfall(_ width: Int, _ nameWidth: Int) -> [String] {
        let room = width - nameWidth - 2
        guard room >= 8, whole > .zero else { return [] }
        var lines = entries.map { entry in
            let name = Format.left(Format.shortened(Verbose.printable(entry.name), to: nameWidth), nameWidth)
            return Self.trimmed(name + "  " + bar(entry, room))
        }
        let end = Format.milliseconds(whole)
        lines.append(
            String(repeating: " ", count: nameWidth + 2) + "0" + Format.right(end, max(end.count, room - 1)))
        lines.append(Format.shortened(". waits  - connects  = asks  # receives", to: width))
        return lines.map { Format.shortened($0, to: width) }
    }

    /// Each column shows the last phase in its interval.
    private func bar(_ entry: RunBoard.Entry, _ room: Int) -> String {
        guard let began = entry.began, let ended = entry.ended else { return "" }
        let moments = Self.moments(of: entry, began, ended)
        func column(_ moment: Duration) -> Int { min(room, max(0, Int(moment / whole * Double(room)))) }
        var cells = Array(repeating: Character(" "), count: room)
        let first = min(column(began), room - 1)
        var from = first
        for (mark, end) in moments {
            for index in from..<max(from, column(end)) {
                cells[index] = mark
            }
            from = max(from, column(end))
        }
        // A short step is visible too.
        if cells[first] == " " {
            cells[first] = moments.last?.mark ?? "="
        }
        return String(cells)
    }

    /// Returns the ends of its phases, in order.
    private static func moments(
        of entry: RunBoard.Entry, _ began: Duration, _ ended: Duration
    ) -> [(mark: Character, end: Duration)] {
        guard let first = entry.metrics.first, let last = entry.metrics.last else { return [("=", ended)] }
        var moments: [(mark: Character, end: Duration)] = []
        for (mark, moment) in [
            (".", first.started), ("-", first.ready), ("=", last.firstByte), ("#", last.ended),
        ] as [(Character, Duration?)] {
            if let moment {
                moments.append((mark, min(ended, began + moment)))
            }
        }
        moments.append((moments.last?.mark == "." || moments.isEmpty ? "=" : moments[moments.count - 1].mark, ended))
        return moments
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }

    // MARK: JSON

    /// One JSON object on one line.
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
            "total_ms": Self.milliseconds(whole), "steps": .array(steps),
        ]
        return report.description
    }

    private static func milliseconds(_ time: Duration) -> JSONValue {
        .number(JSONNumber(floatLiteral: ((time / .milliseconds(1)) * 1000).rounded() / 1000))
    }
}

extension RunBoard.Entry {
    /// The status, or a word for another state.
    fileprivate var word: String {
        if let status = response?.status, status > 0 {
            return String(status)
        }
        return switch state {
        case .failed(let error): error.code == .cancelled ? "ended" : "failed"
        case .unsent, .underWay, .answered: "unsent"
        }
    }

    fileprivate var stateName: String {
        switch state {
        case .answered: "answered"
        case .failed(let error): error.code == .cancelled ? "cancelled" : "failed"
        case .unsent, .underWay: "unsent"
        }
    }
}
