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
        let scene = try WireScene()
        try await item.play(scene)
        await scene.end()
    }

    @Test(arguments: ConformanceCase.all.filter { !isExcluded($0) })
    func theStubPasses(_ item: ConformanceCase) async throws {
        let scene = StubScene()
        try await item.play(scene)
        await scene.end()
    }

    @Test func namesOccurOnce() {
        #expect(Set(Self.names).count == Self.names.count)
    }

    @Test func everyExclusionNamesACaseAndItsReason() {
        for (name, reason) in ConformanceCase.excludedForStub {
            #expect(Self.names.contains(name))
            #expect(reason.split(separator: " ").count > 3, "\(name)")
        }
    }

    /// A case that a stub can play by now must be removed from the table of exceptions.
    @Test(arguments: ConformanceCase.all.filter(isExcluded))
    func anExclusionIsNeeded(_ item: ConformanceCase) async {
        await #expect(throws: NotExpressible.self) { try await item.play(StubScene()) }
    }
}
