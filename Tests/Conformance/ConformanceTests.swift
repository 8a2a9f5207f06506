import NetKit
import Testing

/// Runs every case on every transport. The time limit only ends a test that hangs.
@Suite(.timeLimit(.minutes(5)))
struct ConformanceTests {
    private static let names = ConformanceCase.all.map(\.name)
    private static let isExcluded: @Sendable (ConformanceCase) -> Bool = {
        ConformanceCase.excludedForStub[$0.name] != nil
    }

    @Test(arguments: ConformanceCase.all)
    func theEnginePasses(_ item: ConformanceCase) async throws {
        let fixture = try WireFixture()
        try await item.play(fixture)
        await fixture.end()
    }

    @Test(arguments: ConformanceCase.all.filter { !isExcluded($0) })
    func theStubPasses(_ item: ConformanceCase) async throws {
        let fixture = StubFixture()
        try await item.play(fixture)
        await fixture.end()
    }

    @Test func namesOccurOnce() {
        #expect(Set(Self.names).count == Self.names.count)
    }

    @Test func everyExclusionNamesACaseAndAReason() {
        for (name, reason) in ConformanceCase.excludedForStub {
            #expect(Self.names.contains(name))
            #expect(reason.split(separator: " ").count > 3, "\(name)")
        }
    }

    /// If the stub supports a case of `excludedForStub`, the case must be removed from that table.
    @Test(arguments: ConformanceCase.all.filter(isExcluded))
    func everyExcludedCaseFails(_ item: ConformanceCase) async {
        await #expect(throws: UnsupportedByFixture.self) { try await item.play(StubFixture()) }
    }
}
