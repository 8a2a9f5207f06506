import NetKit

/// Creates the output of --timing-svg: the chart of --timing as an SVG picture. Each hop has a title and a row for each
/// phase.
enum TimingPicture {
    private static let width = 960.0
    private static let left = 16.0
    private static let barLeft = 248.0
    private static let barRight = 944.0
    private static let titleHeight = 26.0
    private static let rowHeight = 20.0

    /// The colours of the phases, by the names that ``Timing/phases(of:from:)`` returns. They also differ in
    /// brightness.
    private static let colours = [
        "queued": "#b8bec8", "name lookup": "#7a5195", "connect": "#ef8a17", "TLS": "#c2378f",
        "first byte": "#2f9e62", "last byte": "#2a6fdb", "no response": "#c0392b",
    ]

    /// Returns the picture as SVG text.
    ///
    /// - Parameter all: the metrics of each URL, in the order of the command line.
    static func text(of all: [Metrics]) -> String {
        var parts: [String] = []
        var top = 16.0
        // All URLs have the same scale, so that their bars can be compared. The last one has the times below it.
        let total = max(all.flatMap { $0.compactMap(\.ended) }.max() ?? .zero, .nanoseconds(1))
        let last = all.lastIndex { !$0.isEmpty }
        for (index, metrics) in all.enumerated() where !metrics.isEmpty {
            parts.append(picture(of: metrics, number: index + 1, total: total, hasTimes: index == last, &top))
            top += 14
        }
        top += parts.isEmpty ? 24 : 0
        let legend = self.legend(at: top)
        let height = decimal(top + 34)
        let isEmpty = parts.isEmpty
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(decimal(width))" height="\(height)" \
            viewBox="0 0 \(decimal(width)) \(height)" font-family="sans-serif" font-size="12">
            <title>Where the time went</title>
            <rect width="100%" height="100%" fill="#ffffff"/>
            \(isEmpty ? text("nothing was sent", x: left, y: 28) : parts.joined(separator: "\n"))
            \(legend)
            </svg>

            """
    }

    /// Draws the hops of one URL. The first has the number of the URL, the next ones a number behind it, such as 1.2.
    private static func picture(
        of metrics: Metrics, number: Int, total: Duration, hasTimes: Bool, _ top: inout Double
    ) -> String {
        var parts: [String] = []
        var begin = Duration.zero
        let first = top
        for (index, hop) in metrics.enumerated() {
            top += titleHeight
            parts.append(title(index == 0 ? "\(number)" : "\(number).\(index + 1)", hop, y: top - 8))
            for phase in Timing.phases(of: hop, from: begin) {
                parts.append(row(phase, total: total, y: top))
                top += rowHeight
            }
            begin = max(begin, hop.ended ?? begin)
        }
        top += 18
        let scale = scale(total, from: first + titleHeight, to: top - 16, hasTimes: hasTimes)
        return ([scale] + parts).joined(separator: "\n")
    }

    private static func title(_ number: String, _ hop: HopMetrics, y: Double) -> String {
        let facts = [
            hop.status > 0 ? "\(hop.httpVersion)" : nil, hop.tlsVersion.isEmpty ? nil : hop.tlsVersion,
            hop.isReused ? "connection reused" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let status = hop.status > 0 ? String(hop.status) : "no response"
        // The texts must not overlap. A bold letter is at most about eight units wide, and a letter of the facts seven.
        let maximumLength = Int(barRight - left) / 8 - (facts.count + 1) * 7 / 8 - status.count - number.count - 6
        let url = Format.shortened(Verbose.shown(url: hop.url), to: maximumLength)
        return text("\(number)  \(status)  \(url)", x: left, y: y, weight: "bold")
            + text(facts, x: barRight, y: y, anchor: "end", fill: "#555b66")
    }

    private static func row(_ phase: Timing.Phase, total: Duration, y: Double) -> String {
        func position(_ time: Duration) -> Double { barLeft + (barRight - barLeft) * min(1, time / total) }
        let from = position(phase.from)
        // Even a very short phase is visible.
        let length = max(1.5, position(phase.to) - from)
        let time = Format.milliseconds(phase.to - phase.from)
        return text(phase.name, x: left + 16, y: y + 14)
            + text(time, x: barLeft - 10, y: y + 14, anchor: "end", fill: "#555b66")
            + "<rect x=\"\(decimal(min(from, barRight - length)))\" y=\"\(decimal(y + 3))\" "
            + "width=\"\(decimal(length))\" height=\"14\" rx=\"1.5\" fill=\"\(colours[phase.name] ?? "#555b66")\">"
            + "<title>\(escaped("\(phase.name): \(time)"))</title></rect>"
    }

    /// Draws lines at each quarter of the total, with their times below if `hasTimes` is set.
    private static func scale(_ total: Duration, from top: Double, to bottom: Double, hasTimes: Bool) -> String {
        (0...4).map { quarter in
            let x = decimal(barLeft + (barRight - barLeft) * Double(quarter) / 4)
            let time = Format.milliseconds(total * quarter / 4)
            let line = "<path d=\"M\(x) \(decimal(top))V\(decimal(bottom))\" stroke=\"#e3e6ea\"/>"
            guard hasTimes else { return line }
            return line + "<text x=\"\(x)\" y=\"\(decimal(bottom + 13))\" fill=\"#555b66\" font-size=\"11\" "
                + "text-anchor=\"\(quarter == 0 ? "start" : quarter == 4 ? "end" : "middle")\">\(time)</text>"
        }.joined(separator: "\n")
    }

    private static func legend(at y: Double) -> String {
        let names = ["queued", "name lookup", "connect", "TLS", "first byte", "last byte", "no response"]
        return names.enumerated().map { index, name in
            let x = left + Double(index) * 128
            return "<rect x=\"\(decimal(x))\" y=\"\(decimal(y + 4))\" width=\"12\" height=\"12\" rx=\"1.5\" "
                + "fill=\"\(colours[name] ?? "")\"/>" + text(name, x: x + 18, y: y + 14, fill: "#555b66")
        }.joined(separator: "\n")
    }

    private static func text(
        _ text: String, x: Double, y: Double, anchor: String = "start", weight: String = "normal",
        fill: String = "#1c2026"
    ) -> String {
        "<text x=\"\(decimal(x))\" y=\"\(decimal(y))\" text-anchor=\"\(anchor)\" font-weight=\"\(weight)\" "
            + "fill=\"\(fill)\">\(escaped(text))</text>"
    }

    private static func decimal(_ number: Double) -> String { Format.decimal(number, 2) }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\"", with: "&quot;")
    }
}
