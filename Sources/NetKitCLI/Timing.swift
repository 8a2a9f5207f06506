import NetKit

/// Creates the output of --timing: the phases of each hop, one below the other, on a common time scale.
enum Timing {
    struct Phase: Equatable {
        var name: String
        var from: Duration
        var to: Duration
    }

    private static let nameColumns = 11
    private static let timeColumns = 13
    private static let barColumns = 50

    /// Returns the phases of a hop, of which the first starts at `begin`. Phases that did not occur are left out. A
    /// reused connection, for example, has no name lookup and no connect.
    static func phases(of hop: HopMetrics, from begin: Duration) -> [Phase] {
        var phases: [Phase] = []
        var last = begin
        func addPhase(_ name: String, _ time: Duration?) {
            guard let time else { return }
            let end = max(last, time)
            phases.append(Phase(name: name, from: last, to: end))
            last = end
        }
        addPhase("queued", hop.started)
        if !hop.isReused {
            addPhase("name lookup", hop.resolved)
            addPhase("connect", hop.connected)
            addPhase("TLS", hop.secured)
        }
        addPhase("first byte", hop.firstByte)
        addPhase(hop.firstByte == nil ? "no response" : "last byte", hop.ended)
        return phases
    }

    /// Returns the output for a transfer that has ended, in lines of at most `width` columns.
    static func lines(of metrics: Metrics, width: Int) -> [String] {
        let total = metrics.compactMap(\.ended).max() ?? .zero
        guard total > .zero else { return [] }
        var lines: [String] = []
        var begin = Duration.zero
        for (index, hop) in metrics.enumerated() {
            lines.append(title(index + 1, hop, width: width))
            for phase in phases(of: hop, from: begin) {
                lines.append(line(phase, total: total, width: width))
            }
            begin = max(begin, hop.ended ?? begin)
        }
        lines.append(nameAndTime("total", total))
        return lines.map { Format.shortened(trimmed($0), to: width) }
    }

    private static func title(_ number: Int, _ hop: HopMetrics, width: Int) -> String {
        let connection = hop.connectionID.map { "connection \($0)" } ?? "no connection"
        let facts = [
            hop.status > 0 ? "\(hop.httpVersion)" : nil, hop.tlsVersion.isEmpty ? nil : hop.tlsVersion,
            connection + (hop.isReused ? " again" : ""),
        ].compactMap { $0 }.joined(separator: ", ")
        let front = "\(number)  \(hop.status > 0 ? String(hop.status) : "---")  "
        let availableColumns = width - front.count - facts.count - 2
        let url = Verbose.shown(url: hop.url)
        return availableColumns >= 16 ? "\(front)\(Format.shortened(url, to: availableColumns))  \(facts)" : front + url
    }

    private static func line(_ phase: Phase, total: Duration, width: Int) -> String {
        let front = nameAndTime(phase.name, phase.to - phase.from)
        let availableColumns = min(barColumns, width - front.count - 2)
        if availableColumns < 8 {
            return front
        }
        func column(_ time: Duration) -> Int { min(availableColumns, Int(time / total * Double(availableColumns))) }
        // A phase that is shorter than a column is still visible.
        let start = min(column(phase.from), availableColumns - 1)
        let length = max(1, column(phase.to) - start)
        let mark = phase.to - phase.from < total / (2 * availableColumns) ? "|" : "="
        return front + "  " + String(repeating: " ", count: start) + String(repeating: mark, count: length)
    }

    private static func nameAndTime(_ name: String, _ time: Duration) -> String {
        "   " + Format.left(name, nameColumns) + Format.right(Format.milliseconds(time), timeColumns)
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }
}
