@testable import NetKit
import Testing

struct NetErrorTests {
    private struct Cause: Error {}

    @Test func errorContainsItsComponents() {
        let error = NetError(
            .reset, "it broke", nativeCode: 56, offset: 7, response: Response(status: 200), underlying: Cause())
        #expect(error.code == .reset)
        #expect(error.message == "it broke")
        #expect(error.nativeCode == 56)
        #expect(error.offset == 7)
        #expect(error.response?.status == 200)
        #expect(error.underlying is Cause)
        #expect(error.description == "reset: it broke")
    }

    @Test func aDescriptionStaysOnOneLine() {
        let error = NetError(.decoding, "a\nb\r\nc\u{1B}[31md\u{2028}e\u{85}f\u{0}g\th é💩")
        #expect(error.message == "a b c [31md e f g h é💩")
        #expect(error.description == "decoding: a b c [31md e f g h é💩")
    }

    @Test func descriptionContainsNoBidirectionalControls() {
        let error = NetError(.badJSON, "a\u{202E}b\u{2066}c\u{200D}d")
        #expect(error.message == "a b c\u{200D}d")
    }

    @Test(arguments: ["x", "é", "💩", "\u{1B}"])
    func longForeignTextInAMessageIsTruncated(text: String) {
        let error = NetError(.decoding, "no such: " + String(repeating: text, count: 1_000_000))
        #expect(error.message.hasPrefix("no such: ") && error.message.hasSuffix("…"))
        #expect((4_000...4_100).contains(error.message.utf8.count))
        #expect(!error.message.contains("\u{FFFD}"))
        let larger = NetError("step", FailedMember(index: 1, name: text, tag: 0, error: error))
        #expect((4_000...4_100).contains(larger.message.utf8.count))
    }

    @Test func failedMemberNameIsPrintedOnOneLine() {
        let part = FailedMember(index: 1, name: "a\u{1B}[31m\nb", tag: 7, error: NetError(.reset, "it broke"))
        #expect(part.description == "1 \"a [31m b\" (tag 7): reset: it broke")
        #expect(part.name == "a\u{1B}[31m\nb")
    }

    @Test func onlyNetworkErrorsAndTimeoutsAreRetryable() {
        let retryable = NetError.Code.allCases.filter(\.isRetryable).map(\.rawValue).sorted()
        #expect(retryable == Array(100...110) + Array(120...125))
        #expect(NetError(.timeout, "").isRetryable)
        #expect(!NetError(.cancelled, "").isRetryable)
    }

    @Test func codePrintsAsItsName() {
        #expect("\(NetError.Code.firstByteTimeout)" == "firstByteTimeout")
        #expect("\(NetError.Code.internal)" == "internal")
        #expect(NetError(.status, "404").description == "status: 404")
        #expect(NetError.Code(rawValue: 77) == nil)
    }
}
