import NetKit
import Synchronization
import Testing

@testable import NetKitCLI

/// Output to a terminal, byte by byte.
struct ConsoleTests {
    private final class Screen: Sendable {
        private let written = Mutex("")
        private let size = Mutex((columns: 80, rows: 24))

        /// Returns the bytes since the previous call.
        func take() -> String {
            written.withLock { text in
                defer { text = "" }
                return text
            }
        }

        func resize(_ columns: Int, _ rows: Int) {
            size.withLock { $0 = (columns, rows) }
        }

        func console(showsProgress: Bool = true) -> Console {
            Console(
                showsProgress: showsProgress, window: { self.size.withLock { $0 } },
                write: { text in self.written.withLock { $0 += text } })
        }
    }

    private let screen = Screen()

    private static func progress(_ received: Int) -> TransferProgress {
        var progress = TransferProgress()
        progress.received = received
        progress.receiveTotal = 100
        return progress
    }

    @Test func lineIsRedrawnInPlace() {
        let console = screen.console()
        console.begin(0, name: "file")
        console.draw()
        #expect(screen.take().hasPrefix("file  "))
        console.update(0, Self.progress(50))
        console.draw()
        let drawn = screen.take()
        #expect(drawn.hasPrefix("\r\u{1b}[Jfile  ") && drawn.contains(" 50%") && !drawn.hasSuffix("\n"))
    }

    @Test func unchangedLineIsNotRedrawn() {
        let console = screen.console()
        console.begin(0, name: "file")
        console.draw()
        _ = screen.take()
        console.draw()
        #expect(screen.take() == "")
    }

    @Test func finalLineRemainsAndIsTerminated() {
        let console = screen.console()
        console.begin(0, name: "file")
        console.draw()
        _ = screen.take()
        console.end(0) { "done within \($0)" }
        #expect(screen.take() == "\r\u{1b}[Jdone within 78\n\r\u{1b}[J" || screen.take() == "")
    }

    @Test func messagesAppearAboveTheProgressLines() {
        let console = screen.console()
        console.begin(0, name: "one")
        console.begin(1, name: "two")
        console.draw()
        _ = screen.take()
        console.say(["word"])
        #expect(screen.take() == "\r\u{1b}[1A\u{1b}[Jword\n")
        console.draw()
        let drawn = screen.take()
        #expect(drawn.hasPrefix("one ") && drawn.split(separator: "\n").count == 2)
    }

    @Test func linesDoNotExceedTheTerminalHeight() {
        let console = screen.console()
        screen.resize(40, 5)
        for index in 0..<10 {
            console.begin(index, name: "n\(index)")
        }
        console.draw()
        let lines = screen.take().split(separator: "\n")
        #expect(lines.count == 4 && lines.last == "and 7 more")
        #expect(lines.allSatisfy { $0.count < 40 })
    }

    @Test func onlyMessagesAreWrittenWithoutATerminal() {
        let console = screen.console(showsProgress: false)
        console.begin(0, name: "file")
        console.update(0, Self.progress(50))
        console.draw()
        console.end(0) { _ in "done" }
        #expect(screen.take() == "")
        console.say("word")
        #expect(screen.take() == "word\n")
    }
}
