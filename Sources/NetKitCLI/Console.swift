import NetKit

/// Standard error: lines for the user, and below them, on a terminal, a line of progress for each transfer.
final class Console: Sendable {
    /// Ten times a second is as often as anyone can look.
    private static let interval = Duration.milliseconds(100)

    private struct Screen {
        /// Lines that stand on the terminal now, to be drawn over.
        var drawn: [String] = []
    }

    private let showsProgress: Bool
    private let window: @Sendable () -> (columns: Int, rows: Int)
    private let write: @Sendable (String) -> Void
    // Two locks: the loop thread, which brings the news, never waits for the terminal.
    private let news = Lock<[(id: Int, line: ProgressLine)]>([])
    private let screen = Lock(Screen())

    /// - Parameters:
    ///   - window: asked before each drawing.
    ///   - write: where it goes.
    init(
        showsProgress: Bool, window: @escaping @Sendable () -> (columns: Int, rows: Int) = { Window.size },
        write: @escaping @Sendable (String) -> Void = { try? Terminal.write($0, to: Terminal.standardError) }
    ) {
        self.showsProgress = showsProgress
        self.window = window
        self.write = write
    }

    /// Writes lines, in one piece, above the progress.
    func say(_ lines: [String]) {
        say(text: lines.map { $0 + "\n" }.joined())
    }

    func say(_ line: String) {
        say([line])
    }

    /// As it is; a text without an end of its line gets one where progress is drawn.
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

    /// The line goes; another one may stay in its place.
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

    /// Draws until the task is cancelled.
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

    /// Room for the "^C" that a terminal writes behind the line: it must not wrap.
    private static func width(_ columns: Int) -> Int { max(0, columns - 2) }

    /// Back to the first line's first column, and nothing from there on.
    private static func erasure(of lines: [String]) -> String {
        if lines.isEmpty {
            return ""
        }
        return "\r" + (lines.count > 1 ? "\u{1b}[\(lines.count - 1)A" : "") + "\u{1b}[J"
    }
}
