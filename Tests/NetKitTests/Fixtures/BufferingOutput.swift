import NetKit

/// An output that keeps the bytes it receives, and notifies when it has enough.
final class BufferingOutput: BodyOutput {
    struct Full: Error {}

    private struct State: Sendable {
        var bytes: [UInt8] = []
        var log: [String] = []
    }

    private let state = Lock(State())
    private let maxBytes: Int
    private let canStartOver: Bool
    private let (news, continuation) = AsyncStream.makeStream(of: Void.self)

    init(maxBytes: Int = .max, canStartOver: Bool = true) {
        self.maxBytes = maxBytes
        self.canStartOver = canStartOver
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The calls except writes.
    var log: [String] { state.withLock { $0.log } }

    func write(_ bytes: Bytes) async throws {
        let fits = state.withLock { [maxBytes] state in
            guard state.bytes.count + bytes.count <= maxBytes else { return false }
            state.bytes += Array(bytes)
            return true
        }
        continuation.yield()
        if !fits {
            throw Full()
        }
    }

    func startOver() async throws {
        if !canStartOver {
            throw NetError(.notRewindable, "the output cannot be cleared")
        }
        state.withLock { state in
            state.bytes = []
            state.log.append("anew")
        }
    }

    func finish() async throws {
        state.withLock { $0.log.append("whole") }
    }

    /// Waits until this many bytes have arrived. It supports one waiter.
    func wait(for count: Int) async {
        if bytes.count >= count {
            return
        }
        for await _ in news where bytes.count >= count {
            return
        }
    }
}
