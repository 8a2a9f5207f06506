import NetKit
import NetKitTesting
import Testing

/// Progress of a request task that resumes after the bytes received so far.
@Suite(.timeLimit(.minutes(5)))
struct ResumableBodyProgressTests {
    private static let length = 200_000

    @Test func resumedBytesAreCountedAfterTheEarlierBytes() async throws {
        let server = try LoopbackServer()
        var reply = Reply(headers: ["ETag: \"v\""], patternLength: UInt64(Self.length), answersRanges: true)
        reply.cutAfter = 50_000
        reply.ending = .stall
        server.script("/", reply)
        let reportedProgress = Collected<TransferProgress>()
        let output = BufferingOutput()
        var request = Request<Void>(server.url("/")).writing(to: output)
        request.progress = { reportedProgress.append($0) }
        var configuration = Agent.Configuration()
        configuration.interceptors = [DelayedProgressInterceptor(reportedProgress: reportedProgress)]
        let handle = Agent(configuration).start(request, on: .here, options: .init(pausing: .releasingConnection))
        await output.wait(for: 40_000)
        handle.pause()
        reply.cutAfter = nil
        reply.ending = .keep
        server.script("/", reply)
        handle.resume()
        _ = try await handle.value
        #expect(output.bytes == pattern(Self.length))
        let values = reportedProgress.values
        #expect(values.allSatisfy { ($0.receiveTotal ?? Self.length) == Self.length })
        #expect(zip(values, values.dropFirst()).allSatisfy { $0.received <= $1.received })
        #expect(values.last?.isOver == true && values.last?.received == Self.length)
    }
}

/// Returns the second transfer's response only when its whole body has arrived.
private final class DelayedProgressInterceptor: Interceptor {
    private let reportedProgress: Collected<TransferProgress>
    private let calls = Lock(0)

    init(reportedProgress: Collected<TransferProgress>) {
        self.reportedProgress = reportedProgress
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let number = calls.withLock { calls in
            calls += 1
            return calls
        }
        let answer = try await next(call)
        while number == 2, reportedProgress.values.last.map({ $0.received == $0.receiveTotal }) != true {
            await Task.yield()
        }
        return answer
    }
}
