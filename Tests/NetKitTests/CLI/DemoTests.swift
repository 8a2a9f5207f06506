import Testing

@Suite(.timeLimit(.minutes(5)))
struct DemoTests {
    @Test func demoPrintsTheExpectedOutput() async throws {
        let outcome = try await nk("demo")
        #expect(outcome.code == 0)
        #expect(outcome.errors == "")
        #expect(outcome.lines.last == "demo: all 9 steps as expected")
        #expect(outcome.lines.count <= 25)
        #expect(outcome.lines.allSatisfy { $0.count <= 80 })
        #expect(!outcome.text.contains("\u{1b}"))
        for number in 1...9 {
            #expect(outcome.lines.contains { $0.hasPrefix("\(number) ") })
        }
        #expect(outcome.text.contains("1,000 of 1,000 responses match their requests"))
    }
}
