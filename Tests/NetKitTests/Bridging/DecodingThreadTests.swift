import FoundationEssentials
import NetKit
import Testing

/// Decodings that wait for one another, which would deadlock on a shared thread.
///
/// The suite is serialized, because each test blocks one or two of the global executor's few threads.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct DecodingThreadTests {
    private struct NeverOpened: Error {}

    /// Two gates. Decoding opens one and waits for the other.
    private struct Meeting: Sendable {
        static let key = "meeting"

        let here: Gate
        let there: Gate

        func attend() throws {
            here.open()
            if !there.wait() {
                throw NeverOpened()
            }
        }
    }

    /// A value whose decoding waits in the middle of a JSON body.
    private struct Waiting: Decodable, Sendable {
        var lines: [String]

        init(from decoder: any Decoder) throws {
            if let key = CodingUserInfoKey(rawValue: Meeting.key), let meeting = decoder.userInfo[key] as? Meeting {
                try meeting.attend()
            }
            lines = try decoder.singleValueContainer().decode([String].self)
        }
    }

    private static func request(_ url: String, _ meeting: Meeting) -> Request<Waiting> {
        let decoder = JSONDecoder()
        if let key = CodingUserInfoKey(rawValue: Meeting.key) {
            decoder.userInfo[key] = meeting
        }
        return Request(url, decoding: .json(decoder))
    }

    private static func lines(_ count: Int) -> Reply {
        let line = "\"\(String(repeating: "a", count: 997))\""
        return .json("[\(repeatElement(line, count: count).joined(separator: ","))]")
    }

    @Test func largeBodyIsNotDecodedOnTheEventLoop() async throws {
        let server = try LoopbackServer()
        server.script("/large", Self.lines(20))
        server.script("/small", .text("x"))
        let agent = Agent()
        let meeting = Meeting(here: Gate(), there: Gate())
        // The request starts on the loop's own thread, which is free again while the decoding waits.
        async let large = withTaskExecutorPreference(agent.executor) {
            try await agent.send(Self.request(server.url("/large"), meeting)).value.lines.count
        }
        async let small = Self.afterOpening(meeting.here) {
            try await agent.send(Request<String>(server.url("/small"))).value
        }
        #expect(try await small == "x")
        meeting.there.open()
        #expect(try await large == 20)
    }

    @Test func bodiesAreDecodedConcurrently() async throws {
        let server = try LoopbackServer()
        server.script("/", Self.lines(20))
        let agent = Agent()
        let (first, second) = (Gate(), Gate())
        async let one = agent.send(Self.request(server.url("/"), Meeting(here: first, there: second))).value.lines
        async let other = agent.send(Self.request(server.url("/"), Meeting(here: second, there: first))).value.lines
        #expect(try await (one.count, other.count) == (20, 20))
    }

    @Test func decodingOf50MBDelaysNoOtherTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/large", Self.lines(50_000))
        server.script("/small", .text("x"))
        let agent = Agent()
        let meeting = Meeting(here: Gate(), there: Gate())
        async let large = agent.send(Self.request(server.url("/large"), meeting)).value.lines.count
        let small = try await Self.afterOpening(meeting.here) {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await agent.send(Request<String>(server.url("/small"))).value }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
        }
        meeting.there.open()
        #expect(small == Array(repeating: "x", count: 100))
        #expect(try await large == 50_000)
    }

    // Up to 16 KiB, decoding costs less than a change of thread.
    @Test(arguments: [(16 << 10, true), ((16 << 10) + 1, false)])
    func smallBodyIsDecodedOnTheCallersExecutor(length: Int, isThere: Bool) async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: UInt64(length)))
        let agent = Agent()
        let decoding = Decoding<UInt> { _ in currentThread() }
        let threads = try await withTaskExecutorPreference(agent.executor) {
            (currentThread(), try await agent.send(Request(server.url("/"), decoding: decoding)).value, currentThread())
        }
        #expect((threads.0 == threads.1) == isThere)
        #expect(threads.0 == threads.2)
    }

    @Test func constantCostDecodingStaysOnTheCallersExecutor() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000))
        let agent = Agent()
        let counts = try await withTaskExecutorPreference(agent.executor) {
            let thread = currentThread()
            let count = try await agent.send(Request<Bytes>(server.url("/"))).value.count
            let _: Void = try await agent.send(Request<Void>(server.url("/"))).value
            return (count, thread == currentThread())
        }
        #expect(counts == (1_000_000, true))
    }

    /// Waits for the gate on a separate thread, then runs the operation.
    private static func afterOpening<Value: Sendable>(
        _ gate: Gate, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        try await gate.opened()
        return try await body()
    }
}
