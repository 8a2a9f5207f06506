import NetKit
import Testing

struct JSONCheckTests {
    @Test func syntaxErrorIsReportedImmediatelyAndStays() throws {
        let check = try JSONCheck()
        try check.feed(Bytes(Array("{\"a\": ".utf8)))
        #expect(check.faults.isEmpty)
        for _ in 0..<2 {
            let error = try #require(throws: NetError.self) { try check.feed(Bytes(Array("\n x".utf8))) }
            #expect(error.code == .badJSON)
            #expect(error.offset == 8)
            #expect(error.jsonFaults.first?.line == 2)
            #expect(error.jsonFaults.first?.column == 2)
        }
        #expect(throws: NetError.self) { try check.finish() }
        #expect(check.faults.count == 1)
    }

    @Test func blankTextIsAcceptedOnlyIfAllowed() throws {
        for text in ["", " \n\r\t"] {
            var expectation = JSONExpectation(["a": .any])
            let strict = try JSONCheck(expectation)
            try strict.feed(Bytes(Array(text.utf8)))
            #expect(throws: NetError.self) { try strict.finish() }
            expectation.allowsEmptyBody = true
            let lenient = try JSONCheck(expectation)
            try lenient.feed(Bytes(Array(text.utf8)))
            try lenient.finish()
        }
    }

    @Test func outOfRangeRulesAreRejected() throws {
        var expectation = JSONExpectation()
        expectation.rules.maxDepth = 1_000_001
        #expect(throws: NetError.self) { try JSONCheck(expectation) }
        expectation = JSONExpectation(.any)
        expectation.maxMismatches = 1001
        #expect(throws: NetError.self) { try JSONCheck(expectation) }
    }

    @Test func aLimitOfBytesEndsAnEndlessText() throws {
        var expectation = JSONExpectation([.integer])
        expectation.rules.maxBytes = 100_000
        let check = try JSONCheck(expectation)
        try check.feed(Bytes(Array("[1".utf8)))
        let piece = Bytes(Array(String(repeating: ",1", count: 5000).utf8))
        let error = try #require(throws: NetError.self) {
            for _ in 0..<11 {
                try check.feed(piece)
            }
        }
        #expect(error.code == .badJSON)
        #expect(error.offset == 100_000)
    }
}
