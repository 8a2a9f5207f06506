import NetKit

/// The output of --timing: the phases of each hop, one below the other, on a common scale.
enum Timing {
    struct Phase: Equatable {
        var name: String
        var from: Duration
        var to: Duration
    }

    private static let nameColumns = 11
    private static let timeColumns = 13
    private static let barColumns = 50

    /// Returns the phases of a hop. A phase that did not occur is omitted: a reused connection needs no lookup and no
    /// connect.
    static func phases(of hop: HopMetrics, from begin: Duration) -> [Phase] {
        var phases: [Phase] = []
        var last = begin
        func pass(_ name: String, _ moment: Duration?) {
            guard let moment else { return }
            let end = max(last, moment)
            phases.append(Phase(name: name, from: last, to: end))
            last = end
        }
        pass("queued", hop.started)
        if !hop.isReused {
            pass("name lookup", hop.resolved)
            pass("connect", hop.connected)
            pass("TLS", hop.secured)
        }
        pass("first byte", hop.firstByte)
        pass(hop.firstByte == nil ? "no answer" : "last byte", hop.ended)
        return phases
    }

    /// Returns lines of at most `width` columns, for transfers that have ended.
    static func lines(of metrics: Metrics, width: Int) -> [String] {
        let whole = metrics.compactMap(\.ended).max() ?? .zero
        guard whole > .zero else { return [] }
        var lines: [String] = []
        var begin = Duration.zero
        for (index, hop) in metrics.enumerated() {
            lines.append(title(index + 1, hop, width: width))
            for phase in phases(of: hop, from: begin) {
                lines.append(line(phase, whole: whole, width: width))
            }
            begin = max(begin, hop.ended ?? begin)
        }
        lines.append(cells("total", whole))
        return lines.map { Format.shortened(trimmed($0), to: width) }
    }

    private static func title(_ number: Int, _ hop: HopMetrics, width: Int) -> String {
        let connection = hop.connectionID.map { "connection \($0)" } ?? "no connection"
        let facts = [
            hop.status > 0 ? "\(hop.httpVersion)" : nil, hop.tlsVersion.isEmpty ? nil : hop.tlsVersion,
            connection + (hop.isReused ? " again" : ""),
        ].compactMap { $0 }.joined(separator: ", ")
        let front = "\(number)  \(hop.status > 0 ? String(hop.status) : "---")  "
        let room = width - front.count - facts.count - 2
        let url = Verbose.shown(url: hop.url)
        return room >= 16 ? "\(front)\(Format.shortened(url, to: room))  \(facts)" : front + url
    }

    private static func line(_ phase: Phase, whole: Duration, width: Int) -> String {
        let front = cells(phase.name, phase.to - phase.from)
        let room = min(barColumns, width - front.count - 2)
        if room < 8 {
            return front
        }
        func column(_ moment: Duration) -> Int { min(room, Int(moment / whole * Double(room))) }
        // A short phase is visible too.
        let start = min(column(phase.from), room - 1)
        let length = max(1, column(phase.to) - start)
        let mark = phase.to - phase.from < whole / (2 * room) ? "|" : "="
        return front + "  " + String(repeating: " ", count: start) + String(repeating: mark, count: length)
    }

    private static func cells(_ name: String, _ time: Duration) -> String {
        "   " + Format.left(name, nameColumns) + Format.right(Format.milliseconds(time), timeColumns)
    }

    private static func trimmed(_ line: String) -> String {
        var line = line
        while line.last == " " { line.removeLast() }
        return line
    }
}
