import NetKit
import NetKitTesting
import Testing

/// Progress of a request task that resumes after the bytes received so far.
@Suite(.timeLimit(.minutes(5)))
struct LettingGoProgressTests {
    private static let length = 200_000

    @Test func aRestThatComesAtOnceIsCountedBehindTheBytesBeforeIt() async throws {
        let server = try LoopbackServer()
        var reply = Reply(headers: ["ETag: \"v\""], patternLength: UInt64(Self.length), answersRanges: true)
        reply.cutAfter = 50_000
        reply.ending = .stall
        server.script("/", reply)
        let told = Collected<TransferProgress>()
        let shelf = Shelf()
        var request = Request<Void>(server.url("/")).writing(to: shelf)
        request.progress = { told.append($0) }
        var configuration = Agent.Configuration()
        configuration.interceptors = [LookingLate(told: told)]
        let handle = Agent(configuration).start(request, on: .here, options: .init(pausing: .lettingGo))
        await shelf.wait(for: 40_000)
        handle.pause()
        reply.cutAfter = nil
        reply.ending = .keep
        server.script("/", reply)
        handle.resume()
        _ = try await handle.value
        #expect(shelf.bytes == pattern(Self.length))
        let values = told.values
        #expect(values.allSatisfy { ($0.receiveTotal ?? Self.length) == Self.length })
        #expect(zip(values, values.dropFirst()).allSatisfy { $0.received <= $1.received })
        #expect(values.last?.isOver == true && values.last?.received == Self.length)
    }
}

/// Returns the second transfer's response only when its whole body has arrived.
private final class LookingLate: Interceptor {
    private let told: Collected<TransferProgress>
    private let calls = Lock(0)

    init(told: Collected<TransferProgress>) {
        self.told = told
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        let answer = try await next(call)
        while number == 2, told.values.last.map({ $0.received == $0.receiveTotal }) != true {
            await Task.yield()
        }
        return answer
    }
}
