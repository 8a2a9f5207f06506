import NetKit

/// The progress of one transfer, which is shown in one line of a terminal.
struct ProgressLine: Sendable, Equatable {
    var name: String
    /// The transferred body bytes.
    var done = 0
    /// The total body bytes, or `nil` if it is unknown.
    var total: Int?
    var bytesPerSecond = 0
    var timeLeft: Duration?

    init(name: String) {
        self.name = name
    }

    init(name: String, _ progress: TransferProgress) {
        self.name = name
        done = progress.sent.addingSaturated(progress.received)
        bytesPerSecond = progress.bytesPerSecond
        timeLeft = progress.timeLeft
        let areTotalsKnown =
            (progress.sent == 0 || progress.sendTotal != nil)
            && (progress.received == 0 || progress.receiveTotal != nil)
        let sum = (progress.sendTotal ?? 0).addingSaturated(progress.receiveTotal ?? 0)
        total = areTotalsKnown && sum > 0 ? sum : nil
    }

    private static let nameColumns = 8...24
    private static let barColumns = 12...42
    private static let shareColumns = 4
    private static let rateColumns = 10
    private static let timeColumns = 7
    private static let sizeColumns = 8
    private static let stepBytes = 64 << 10

    /// Returns a line of at most `width` columns. If the whole line does not fit, columns are left out in this order:
    /// the bar, the size (if there is a percentage), the name, the time, the rate.
    ///
    /// - Parameter nameWidth: the width of the longest name in all lines, so that the columns are aligned.
    func text(width: Int, nameWidth: Int) -> String {
        var remaining = max(0, width)
        func reserve(_ columns: Int) -> Bool {
            if columns > remaining {
                return false
            }
            remaining -= columns
            return true
        }
        let percentage = total.map { $0 > 0 ? Int(min(1, Double(done) / Double($0)) * 100) : 100 }
        let (percentageText, sizeText) = (percentage.map { "\($0)%" } ?? "", Format.size(done))
        let requiredColumns = percentage == nil ? Self.sizeColumns : Self.shareColumns
        guard reserve(requiredColumns) else {
            return Format.shortened(percentage == nil ? sizeText : percentageText, to: remaining)
        }
        let hasRate = reserve(2 + Self.rateColumns)
        let isTimed = percentage != nil || timeLeft != nil
        var hasTime = isTimed && hasRate && reserve(2 + Self.timeColumns)
        let hasName = reserve(Self.nameColumns.lowerBound + 2)
        hasTime = hasTime || (!isTimed && hasRate && reserve(2 + Self.timeColumns))
        let hasSizeAndPercentage = hasName && reserve(2 + (percentage == nil ? Self.shareColumns : Self.sizeColumns))
        let hasBar = hasSizeAndPercentage && reserve(2 + Self.barColumns.lowerBound)
        var columns: [String] = []
        if hasName {
            let names = Self.nameColumns
            let additional = min(min(max(names.lowerBound, nameWidth), names.upperBound) - names.lowerBound, remaining)
            remaining -= additional
            let width = names.lowerBound + additional
            columns.append(Format.left(Format.shortened(name, to: width), width))
        }
        if hasBar {
            columns.append(bar(percentage, min(Self.barColumns.upperBound, Self.barColumns.lowerBound + remaining)))
        }
        if hasSizeAndPercentage || percentage != nil {
            columns.append(Format.right(percentageText, Self.shareColumns))
        }
        if hasSizeAndPercentage || percentage == nil {
            columns.append(Format.right(sizeText, Self.sizeColumns))
        }
        if hasRate {
            columns.append(
                Format.right(bytesPerSecond > 0 ? Format.size(bytesPerSecond) + "/s" : "-", Self.rateColumns))
        }
        if hasTime {
            columns.append(Format.right(timeLeft.map { Format.clock($0) } ?? "-:--", Self.timeColumns))
        }
        return columns.joined(separator: "  ")
    }

    /// Returns the final line of a transfer.
    static func end(name: String, bytes: Int, took: Duration, width: Int) -> String {
        let seconds = Format.number(of: took)
        let rate = seconds > 0 ? Format.size(Int(min(Double(bytes) / seconds, 9e18))) : "-"
        let summary = "\(Format.size(bytes)) in \(Format.seconds(took)), \(rate)/s"
        let remaining = width - 2 - summary.count
        if remaining < min(Self.nameColumns.lowerBound, Format.columns(of: name)) {
            return Format.shortened(summary, to: max(0, width))
        }
        return "\(Format.shortened(name, to: remaining))  \(summary)"
    }

    /// Returns the bar. If the total is unknown, it is a mark that moves while bytes arrive.
    private func bar(_ percentage: Int?, _ columns: Int) -> String {
        let remaining = columns - 2
        guard let percentage else {
            let positions = remaining - 3
            let step = done / Self.stepBytes % (2 * positions)
            return "[" + Format.left(String(repeating: " ", count: min(step, 2 * positions - step)) + "<=>", remaining)
                + "]"
        }
        let filled = remaining * percentage / 100
        let isPartial = filled > 0 && filled < remaining
        return "["
            + Format.left(
                String(repeating: "=", count: isPartial ? filled - 1 : filled) + (isPartial ? ">" : ""), remaining)
            + "]"
    }
}
