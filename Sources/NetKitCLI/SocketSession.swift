import NetKit

/// An open WebSocket of `nk ws`: sends the lines of standard input, and prints the messages.
struct SocketSession {
    private static let maxLineBytes = 64 << 20

    private let socket: WebSocket
    private let settings: WebSocketArguments.Settings
    private let isVerbose: Bool
    private let console: Console
    /// The first failure that does not end the socket by itself.
    private let failure = Lock<Failure?>(nil)

    init(_ socket: WebSocket, _ settings: WebSocketArguments.Settings, isVerbose: Bool, console: Console) {
        (self.socket, self.settings, self.isVerbose, self.console) = (socket, settings, isVerbose, console)
    }

    /// Exchanges messages until the end of the socket.
    func run() async throws(Failure) {
        // Reading standard input cannot be cancelled. The process may end while the task waits for it.
        let sender = Task { await sendLines() }
        let pinger = settings.pingInterval.map { interval in Task { await sendPings(every: interval) } }
        defer {
            sender.cancel()
            pinger?.cancel()
        }
        do throws(NetError) {
            var count = 0
            while count < settings.maxMessages, let message = try await socket.next() {
                count += 1
                try print(message, number: count)
            }
            if count == settings.maxMessages {
                try await socket.close()
            }
            say(closing)
        } catch {
            if Task.isCancelled {
                let socket = socket
                await Task { try? await socket.close(code: .goingAway) }.value
            }
            say(closing)
            throw Failure(endOf: error)
        }
        if let failure = failure.withLock({ $0 }) {
            throw failure
        }
    }

    private var closing: String {
        guard let frame = socket.closeFrame else { return "* ended without a close frame of the server" }
        return "* the server closed with code \(frame.code)" + (frame.reason.isEmpty ? "" : ": \(frame.reason)")
    }

    private func say(_ line: String) {
        if isVerbose {
            console.say(Verbose.printable(line))
        }
    }

    private func fail(_ failure: Failure) {
        self.failure.withLock { $0 = $0 ?? failure }
    }

    // MARK: Sending

    /// Sends the lines of standard input, and closes the socket at their end.
    private func sendLines() async {
        do {
            var rest: [UInt8] = []
            var number = 0
            for try await chunk in try InputChunks("-") {
                rest += chunk
                var start = rest.startIndex
                while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                    number += 1
                    try await send(rest[start..<end], number: number)
                    start = end + 1
                }
                rest.removeFirst(start)
                if rest.count > Self.maxLineBytes {
                    throw Failure(ExitCode.read, "line \(number + 1) of standard input is longer than 64 MiB")
                }
            }
            if !rest.isEmpty {
                try await send(rest[...], number: number + 1)
            }
            if !settings.staysOpen {
                try await socket.close()
            }
        } catch let error as Failure {
            fail(error)
            try? await socket.close()
        } catch let error as SystemError {
            fail(Failure(reading: error, from: "-"))
            try? await socket.close()
        } catch {
            // The failure of the socket is thrown by receive() too.
        }
    }

    private func send(_ line: ArraySlice<UInt8>, number: Int) async throws {
        if settings.sendsBinary {
            guard let bytes = Self.bytes(ofHex: line) else {
                throw Failure(ExitCode.read, "line \(number) of standard input is not pairs of hex digits")
            }
            try await socket.send(bytes)
        } else {
            guard let text = String(validating: line, as: UTF8.self) else {
                throw Failure(ExitCode.read, "line \(number) of standard input is not UTF-8; --binary sends bytes")
            }
            try await socket.send(.text(text))
        }
    }

    /// Returns the bytes of pairs of hex digits, which spaces may separate.
    private static func bytes(ofHex line: ArraySlice<UInt8>) -> [UInt8]? {
        let digits = line.filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\r") }
        guard digits.count.isMultiple(of: 2), digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }) else {
            return nil
        }
        return stride(from: 0, to: digits.count, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...(index + 1)], as: UTF8.self), radix: 16)
        }
    }

    private func sendPings(every interval: Duration) async {
        do {
            while true {
                try await Task.sleep(for: interval)
                say("* ping")
                say("* pong after \(Format.milliseconds(try await socket.ping()))")
            }
        } catch {
            // The task was cancelled, or the socket has ended, which receive() reports.
        }
    }

    // MARK: Receiving

    private func print(_ message: WebSocket.Message, number: Int) throws(NetError) {
        let line: [UInt8]
        if settings.printsJSON {
            guard let json = json(message, number: number) else { return }
            line = json
        } else if let text = message.text {
            line = Array(text.utf8)
        } else {
            line = Self.hex(message.bytes)
        }
        do throws(SystemError) {
            try Terminal.write((line + [UInt8(ascii: "\n")]).span, to: Terminal.standardOutput)
        } catch {
            throw NetError(.cancelled, "", underlying: Failure(writing: error, to: nil))
        }
    }

    /// Returns a message as compact JSON. Reports a message that is not JSON, and returns `nil`.
    private func json(_ message: WebSocket.Message, number: Int) -> [UInt8]? {
        do throws(NetError) {
            return Array(try JSONValue(message.bytes).description.utf8)
        } catch {
            let failure = Failure(ExitCode.of(error), "message \(number) is not JSON: \(error.message)")
            console.say("nk: \(Verbose.printable(failure.message ?? ""))")
            fail(Failure(failure.exitCode, nil))
            return nil
        }
    }

    private static func hex(_ bytes: Bytes) -> [UInt8] {
        let digits = Array("0123456789abcdef".utf8)
        return Array(bytes).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
}

extension Failure {
    /// Creates the failure for the end of an open WebSocket.
    fileprivate init(endOf error: NetError) {
        if let failure = error.underlying as? Failure {
            self = failure
        } else if [.cutShort, .reset, .receive, .send].contains(error.code) {
            self.init(ExitCode.abnormalClose, error.message)
        } else {
            self.init(error)
        }
    }
}
