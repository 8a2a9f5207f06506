@testable import NetKit
import Testing

/// A server may announce any length below 2^63, for several transfers. Their sum must not overflow the progress.
@Suite(.timeLimit(.minutes(5)))
struct AnnouncedLengthTests {
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
}
