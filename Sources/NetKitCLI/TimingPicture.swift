import NetKit

/// The output of --timing-svg: the waterfall of --timing as SVG, with a title and a row of phases for each hop.
enum TimingPicture {
    private static let width = 960.0
    private static let left = 16.0
    private static let barLeft = 248.0
    private static let barRight = 944.0
    private static let titleHeight = 26.0
    private static let rowHeight = 20.0

    /// By the names of ``Timing/phases(of:from:)``. The colours also differ in brightness.
    private static let colours = [
        "queued": "#b8bec8", "name lookup": "#7a5195", "connect": "#ef8a17", "TLS": "#c2378f",
        "first byte": "#2f9e62", "last byte": "#2a6fdb", "no answer": "#c0392b",
    ]

    /// - Parameter all: the metrics of each URL, in the order of the command line.
    static func text(of all: [Metrics]) -> String {
        var parts: [String] = []
        var top = 16.0
        for metrics in all where !metrics.isEmpty {
            parts.append(picture(of: metrics, &top))
            top += 14
        }
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

    private static func picture(of metrics: Metrics, _ top: inout Double) -> String {
        let whole = max(metrics.compactMap(\.ended).max() ?? .zero, .nanoseconds(1))
        var parts: [String] = []
        var begin = Duration.zero
        let first = top
        for (index, hop) in metrics.enumerated() {
            top += titleHeight
            parts.append(title(index + 1, hop, y: top - 8))
            for phase in Timing.phases(of: hop, from: begin) {
                parts.append(row(phase, whole: whole, y: top))
                top += rowHeight
            }
            begin = max(begin, hop.ended ?? begin)
        }
        top += 18
        return ([scale(whole, from: first + titleHeight, to: top - 16)] + parts).joined(separator: "\n")
    }

    private static func title(_ number: Int, _ hop: HopMetrics, y: Double) -> String {
        let facts = [
            hop.status > 0 ? "\(hop.httpVersion)" : nil, hop.tlsVersion.isEmpty ? nil : hop.tlsVersion,
            hop.isReused ? "connection used again" : nil,
        ].compactMap { $0 }.joined(separator: ", ")
        let status = hop.status > 0 ? String(hop.status) : "no answer"
        // A bold letter is eight units wide, one of the facts seven, so the texts never overlap.
        let room = Int(barRight - left) / 8 - (facts.count + 1) * 7 / 8 - status.count - 7
        let url = Format.shortened(Verbose.shown(url: hop.url), to: room)
        return text("\(number)  \(status)  \(url)", x: left, y: y, weight: "bold")
            + text(facts, x: barRight, y: y, anchor: "end", fill: "#555b66")
    }

    private static func row(_ phase: Timing.Phase, whole: Duration, y: Double) -> String {
        func place(_ moment: Duration) -> Double { barLeft + (barRight - barLeft) * min(1, moment / whole) }
        let from = place(phase.from)
        // A short phase is visible too.
        let length = max(1.5, place(phase.to) - from)
        let time = Format.milliseconds(phase.to - phase.from)
        return text(phase.name, x: left + 16, y: y + 14)
            + text(time, x: barLeft - 10, y: y + 14, anchor: "end", fill: "#555b66")
            + "<rect x=\"\(decimal(min(from, barRight - length)))\" y=\"\(decimal(y + 3))\" "
            + "width=\"\(decimal(length))\" height=\"14\" rx=\"1.5\" fill=\"\(colours[phase.name] ?? "#555b66")\">"
            + "<title>\(escaped("\(phase.name): \(time)"))</title></rect>"
    }

    /// Draws lines at each quarter of the total, with their times below.
    private static func scale(_ whole: Duration, from top: Double, to bottom: Double) -> String {
        (0...4).map { quarter in
            let x = decimal(barLeft + (barRight - barLeft) * Double(quarter) / 4)
            let time = Format.milliseconds(whole * quarter / 4)
            return "<path d=\"M\(x) \(decimal(top))V\(decimal(bottom))\" stroke=\"#e3e6ea\"/>"
                + "<text x=\"\(x)\" y=\"\(decimal(bottom + 13))\" fill=\"#555b66\" font-size=\"11\" "
                + "text-anchor=\"\(quarter == 0 ? "start" : quarter == 4 ? "end" : "middle")\">\(time)</text>"
        }.joined(separator: "\n")
    }

    private static func legend(at y: Double) -> String {
        let names = ["queued", "name lookup", "connect", "TLS", "first byte", "last byte", "no answer"]
        return names.enumerated().map { index, name in
            let x = left + Double(index) * 104
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
