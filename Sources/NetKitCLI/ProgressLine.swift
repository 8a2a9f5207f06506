import NetKit

/// The progress of one transfer, as one line of a terminal.
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
        let knowsAll =
            (progress.sent == 0 || progress.sendTotal != nil)
            && (progress.received == 0 || progress.receiveTotal != nil)
        let sum = (progress.sendTotal ?? 0).addingSaturated(progress.receiveTotal ?? 0)
        total = knowsAll && sum > 0 ? sum : nil
    }

    private static let nameColumns = 8...24
    private static let barColumns = 12...42
    private static let shareColumns = 4
    private static let rateColumns = 10
    private static let timeColumns = 7
    private static let sizeColumns = 8
    private static let stepBytes = 64 << 10

    /// Returns a line of at most `width` columns. If it is too long, parts are omitted in this order: the bar, the size
    /// beside the percentage, the name, the time, the rate.
    ///
    /// - Parameter nameWidth: the width of the longest name of all lines, for alignment.
    func text(width: Int, nameWidth: Int) -> String {
        var room = max(0, width)
        func take(_ columns: Int) -> Bool {
            if columns > room {
                return false
            }
            room -= columns
            return true
        }
        let share = total.map { $0 > 0 ? Int(min(1, Double(done) / Double($0)) * 100) : 100 }
        let (shareText, sizeText) = (share.map { "\($0)%" } ?? "", Format.size(done))
        let needed = share == nil ? Self.sizeColumns : Self.shareColumns
        guard take(needed) else { return Format.shortened(share == nil ? sizeText : shareText, to: room) }
        let hasRate = take(2 + Self.rateColumns)
        let isTimed = share != nil || timeLeft != nil
        var hasTime = isTimed && hasRate && take(2 + Self.timeColumns)
        let hasName = take(Self.nameColumns.lowerBound + 2)
        hasTime = hasTime || (!isTimed && hasRate && take(2 + Self.timeColumns))
        let hasBoth = hasName && take(2 + (share == nil ? Self.shareColumns : Self.sizeColumns))
        let hasBar = hasBoth && take(2 + Self.barColumns.lowerBound)
        var columns: [String] = []
        if hasName {
            let names = Self.nameColumns
            let more = min(min(max(names.lowerBound, nameWidth), names.upperBound) - names.lowerBound, room)
            room -= more
            let width = names.lowerBound + more
            columns.append(Format.left(Format.shortened(name, to: width), width))
        }
        if hasBar {
            columns.append(bar(share, min(Self.barColumns.upperBound, Self.barColumns.lowerBound + room)))
        }
        if hasBoth || share != nil {
            columns.append(Format.right(shareText, Self.shareColumns))
        }
        if hasBoth || share == nil {
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
        let account = "\(Format.size(bytes)) in \(Format.seconds(took)), \(rate)/s"
        let room = width - 2 - account.count
        if room < min(Self.nameColumns.lowerBound, Format.columns(of: name)) {
            return Format.shortened(account, to: max(0, width))
        }
        return "\(Format.shortened(name, to: room))  \(account)"
    }

    /// Returns a bar. If the total is unknown, it moves with the bytes.
    private func bar(_ share: Int?, _ columns: Int) -> String {
        let room = columns - 2
        guard let share else {
            let places = room - 3
            let step = done / Self.stepBytes % (2 * places)
            return "[" + Format.left(String(repeating: " ", count: min(step, 2 * places - step)) + "<=>", room) + "]"
        }
        let filled = room * share / 100
        let isUnderWay = filled > 0 && filled < room
        return "["
            + Format.left(
                String(repeating: "=", count: isUnderWay ? filled - 1 : filled) + (isUnderWay ? ">" : ""), room) + "]"
    }
}
