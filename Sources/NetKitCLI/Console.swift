import NetKit

/// Writes to standard error: messages and, if it is a terminal, a progress line for each transfer below them.
final class Console: Sendable {
    /// The time between updates of the progress.
    private static let interval = Duration.milliseconds(100)

    private struct TerminalState {
        /// The progress lines that are on the terminal and will be overwritten.
        var drawn: [String] = []
    }

    let showsProgress: Bool
    private let window: @Sendable () -> (columns: Int, rows: Int)
    private let write: @Sendable (String) -> Void
    // There are two locks, so that the event loop thread, which reports progress, never waits for the terminal.
    private let progressLines = Lock<[(id: Int, line: ProgressLine)]>([])
    private let terminal = Lock(TerminalState())

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

    /// Writes lines above the progress lines, in one write.
    func say(_ lines: [String]) {
        say(text: lines.map { $0 + "\n" }.joined())
    }

    func say(_ line: String) {
        say([line])
    }

    /// Writes a text unchanged above the progress lines. If progress is shown, a missing line end is added.
    func say(text: String) {
        if text.isEmpty {
            return
        }
        terminal.withLock { terminal in
            let end = showsProgress && !text.hasSuffix("\n") ? "\n" : ""
            write(Self.erasure(of: terminal.drawn) + text + end)
            terminal.drawn = []
        }
    }

    // MARK: Progress

    func begin(_ id: Int, name: String) {
        if showsProgress {
            progressLines.withLock { $0.append((id, ProgressLine(name: name))) }
        }
    }

    func update(_ id: Int, _ progress: TransferProgress) {
        progressLines.withLock { progressLines in
            if let index = progressLines.firstIndex(where: { $0.id == id }) {
                progressLines[index].line = ProgressLine(name: progressLines[index].line.name, progress)
            }
        }
    }

    /// Removes the progress line of a transfer. If `last` is set, the line that it returns for the terminal's width
    /// stays above the progress.
    func end(_ id: Int, leaving last: ((Int) -> String)? = nil) {
        let wasShown = progressLines.withLock { progressLines in
            let count = progressLines.count
            progressLines.removeAll { $0.id == id }
            return progressLines.count < count
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
        let all = progressLines.withLock { $0.map(\.line) }
        let width = Self.width(columns)
        let nameWidth = all.map { Format.columns(of: $0.name) }.max() ?? 0
        var lines = all.prefix(max(1, rows - 2)).map { $0.text(width: width, nameWidth: nameWidth) }
        if lines.count < all.count {
            lines.append(Format.shortened("and \(all.count - lines.count) more", to: width))
        }
        terminal.withLock { terminal in
            if lines != terminal.drawn {
                write(Self.erasure(of: terminal.drawn) + lines.joined(separator: "\n"))
                terminal.drawn = lines
            }
        }
    }

    /// Returns the width of progress lines. Two columns are left free for the "^C" that a terminal appends, because a
    /// line must not wrap.
    private static func width(_ columns: Int) -> Int { max(0, columns - 2) }

    /// Returns the escape sequence that moves to the start of the first of these lines and clears the screen from
    /// there.
    private static func erasure(of lines: [String]) -> String {
        if lines.isEmpty {
            return ""
        }
        return "\r" + (lines.count > 1 ? "\u{1b}[\(lines.count - 1)A" : "") + "\u{1b}[J"
    }
}
