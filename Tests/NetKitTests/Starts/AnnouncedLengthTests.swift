@testable import NetKit
import Testing

/// A server may announce any length below 2^63, for several transfers. Their sum must not overflow the progress.
@Suite(.timeLimit(.minutes(5)))
struct AnnouncedLengthTests {
    private static let largestLength = "9223372036854775799"

    @Test func uploadAndDownloadLengthsFormOneFraction() {
        var progress = TransferProgress()
        (progress.sent, progress.sendTotal, progress.received, progress.receiveTotal) = (10, 10, 5, .max)
        #expect(progress.fractionCompleted.map { $0 > 0 && $0 < 0.001 } ?? false)
        (progress.sent, progress.received) = (.max, .max)
        #expect(progress.fractionCompleted == 1)
    }

    @Test func sumOfLengthsSaturates() {
        #expect(Int.max.addingSaturated(1) == .max && 3.addingSaturated(4) == 7)
    }

    @Test func trackedTransferOfAHugeLengthEnds() async throws {
        let server = try LoopbackServer()
        server.script("/", .raw("HTTP/1.1 200 OK\r\nContent-Length: \(Self.largestLength)\r\n\r\nabc"))
        let agent = Agent()
        let whole = CallProgress()
        for _ in 1...3 {
            let part = whole.part()
            let reportedProgress = Collected<TransferProgress>()
            var request = Request<Bytes>(server.url("/"), method: .post, body: Body(Bytes(Array("0123456789".utf8))))
            request.limits = Limits()
            request.limits.maxBodyBytes = nil
            request.progress = { progress in
                reportedProgress.append(progress)
                part.take(progress)
            }
            let error = await #expect(throws: NetError.self) { try await agent.send(request) }
            #expect(error?.code == .cutShort)
            #expect(reportedProgress.values.contains { $0.receiveTotal == Int(Self.largestLength) })
        }
        #expect(whole.current.download.completed == 9)
    }
}
