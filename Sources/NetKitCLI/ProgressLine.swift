import NetKit

/// One transfer's progress, as one line of a terminal.
struct ProgressLine: Sendable, Equatable {
    var name: String
    /// Body bytes that have moved.
    var done = 0
    /// Body bytes to move; nil when nobody knows.
    var total: Int?
    var bytesPerSecond = 0
    var timeLeft: Duration?

    init(name: String) {
        self.name = name
    }

    init(name: String, _ progress: TransferProgress) {
        self.name = name
        done = progress.sent + progress.received
        bytesPerSecond = progress.bytesPerSecond
        timeLeft = progress.timeLeft
        let knowsAll =
            (progress.sent == 0 || progress.sendTotal != nil)
            && (progress.received == 0 || progress.receiveTotal != nil)
        let sum = (progress.sendTotal ?? 0) + (progress.receiveTotal ?? 0)
        total = knowsAll && sum > 0 ? sum : nil
    }

    private static let nameColumns = 8...24
    private static let barColumns = 12...42
    private static let rateColumns = 10
    private static let timeColumns = 7
    private static let sizeColumns = 8

    /// Never longer than `width` columns. What matters least is left out first: the bar, the size, the name.
    func text(width: Int) -> String {
        var room = max(0, width)
        func take(_ columns: Int) -> Bool {
            if columns > room {
                return false
            }
            room -= columns
            return true
        }
        let share = total.map { $0 > 0 ? min(100, Int(Double(done) / Double($0) * 100)) : 100 }
        let first = share.map { Format.right("\($0)%", 4) } ?? Format.right(Format.size(done), Self.sizeColumns)
        guard take(first.count) else { return Format.shortened(name, to: room) }
        let hasRate = take(2 + Self.rateColumns)
        let hasTime = hasRate && take(2 + Self.timeColumns)
        let hasName = take(Self.nameColumns.lowerBound + 2)
        let hasSize = hasTime && share != nil && take(2 + Self.sizeColumns)
        let hasBar = hasName && share != nil && take(2 + Self.barColumns.lowerBound)
        var columns: [String] = []
        if hasName {
            let wanted = max(
                0, min(Format.columns(of: name), Self.nameColumns.upperBound) - Self.nameColumns.lowerBound)
            let more = hasBar ? min(wanted, room) : room
            room -= more
            let width = Self.nameColumns.lowerBound + more
            columns.append(Format.left(Format.shortened(name, to: width), width))
        }
        if hasBar, let share {
            columns.append(Self.bar(share, min(Self.barColumns.upperBound, Self.barColumns.lowerBound + room)))
        }
        columns.append(first)
        if hasSize {
            columns.append(Format.right(Format.size(done), Self.sizeColumns))
        }
        if hasRate {
            columns.append(Format.right(bytesPerSecond > 0 ? Format.size(bytesPerSecond) + "/s" : "-", 10))
        }
        if hasTime {
            columns.append(Format.right(timeLeft.map { Format.clock($0) } ?? "-:--", Self.timeColumns))
        }
        return columns.joined(separator: "  ")
    }

    /// What stays on the terminal when it is over.
    static func end(name: String, bytes: Int, took: Duration, width: Int) -> String {
        let seconds = Format.number(of: took)
        let rate = seconds > 0 ? Format.size(Int(min(Double(bytes) / seconds, 9e18))) : "-"
        let account = "\(Format.size(bytes)) in \(Format.seconds(took)), \(rate)/s"
        let room = width - 2 - account.count
        if room < Self.nameColumns.lowerBound {
            return Format.shortened(account, to: max(0, width))
        }
        return "\(Format.shortened(name, to: room))  \(account)"
    }

    private static func bar(_ share: Int, _ columns: Int) -> String {
        let room = columns - 2
        let filled = room * share / 100
        let head = filled > 0 && filled < room ? String(repeating: "=", count: filled - 1) + ">" : ""
        let body = head.isEmpty ? String(repeating: "=", count: filled) : head
        return "[" + Format.left(body, room) + "]"
    }
}
