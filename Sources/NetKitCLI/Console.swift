import NetKit

/// Standard error: messages, and on a terminal a progress line for each transfer below them.
final class Console: Sendable {
    /// Ten updates a second are enough for a reader.
    private static let interval = Duration.milliseconds(100)

    private struct Screen {
        /// The progress lines that are on the terminal and will be overwritten.
        var drawn: [String] = []
    }

    private let showsProgress: Bool
    private let window: @Sendable () -> (columns: Int, rows: Int)
    private let write: @Sendable (String) -> Void
    // Two locks, so that the loop thread, which reports progress, never waits for the terminal.
    private let news = Lock<[(id: Int, line: ProgressLine)]>([])
    private let screen = Lock(Screen())

    /// - Parameters:
    ///   - window: returns the terminal's size before each update.
    ///   - write: writes the text.
    init(
        showsProgress: Bool, window: @escaping @Sendable () -> (columns: Int, rows: Int) = { Window.size },
        write: @escaping @Sendable (String) -> Void = { try? Terminal.write($0, to: Terminal.standardError) }
    ) {
        self.showsProgress = showsProgress
        self.window = window
        self.write = write
    }

    /// Writes lines above the progress, in one write.
    func say(_ lines: [String]) {
        say(text: lines.map { $0 + "\n" }.joined())
    }

    func say(_ line: String) {
        say([line])
    }

    /// Writes a text unchanged. If progress is shown, a missing line end is added.
    func say(text: String) {
        if text.isEmpty {
            return
        }
        screen.withLock { screen in
            let end = showsProgress && !text.hasSuffix("\n") ? "\n" : ""
            write(Self.erasure(of: screen.drawn) + text + end)
            screen.drawn = []
        }
    }

    // MARK: Progress

    func begin(_ id: Int, name: String) {
        if showsProgress {
            news.withLock { $0.append((id, ProgressLine(name: name))) }
        }
    }

    func update(_ id: Int, _ progress: TransferProgress) {
        news.withLock { news in
            if let index = news.firstIndex(where: { $0.id == id }) {
                news[index].line = ProgressLine(name: news[index].line.name, progress)
            }
        }
    }

    /// Removes a transfer's line. A final line may replace it.
    func end(_ id: Int, leaving last: ((Int) -> String)? = nil) {
        let wasShown = news.withLock { news in
            let count = news.count
            news.removeAll { $0.id == id }
            return news.count < count
        }
        if wasShown {
            say(text: last.map { $0(Self.width(window().columns)) + "\n" } ?? "")
            draw()
        }
    }

    /// Updates the progress until the task is cancelled.
    func keepDrawing() async {
        while showsProgress, (try? await Task.sleep(for: Self.interval)) != nil {
            draw()
        }
    }

    func draw() {
        guard showsProgress else { return }
        let (columns, rows) = window()
        let all = news.withLock { $0.map(\.line) }
        let width = Self.width(columns)
        let nameWidth = all.map { Format.columns(of: $0.name) }.max() ?? 0
        var lines = all.prefix(max(1, rows - 2)).map { $0.text(width: width, nameWidth: nameWidth) }
        if lines.count < all.count {
            lines.append(Format.shortened("and \(all.count - lines.count) more", to: width))
        }
        screen.withLock { screen in
            if lines != screen.drawn {
                write(Self.erasure(of: screen.drawn) + lines.joined(separator: "\n"))
                screen.drawn = lines
            }
        }
    }

    /// Leaves room for the "^C" that a terminal appends: the line must not wrap.
    private static func width(_ columns: Int) -> Int { max(0, columns - 2) }

    /// Returns the sequence that moves to the first column of the first line and clears the remainder.
    private static func erasure(of lines: [String]) -> String {
        if lines.isEmpty {
            return ""
        }
        return "\r" + (lines.count > 1 ? "\u{1b}[\(lines.count - 1)A" : "") + "\u{1b}[J"
    }
}
