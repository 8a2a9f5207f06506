import NetKitCompat
import Testing

@testable import NetKit

/// Decisions of an app's policy about an entry.
struct CacheDecisionTests {
    private func decided(
        now: Int64 = 1000, _ policy: CacheCriteria, _ entry: CacheLookupResult
    ) -> CacheDecision {
        CacheDecision(now: now, policy: policy, entry: entry)
    }

    @Test func missReasonsAreCheckedInYTKNetworkOrder() {
        // All checks fail at first. Then they are corrected one by one.
        var policy = CacheCriteria(maximumAge: -1, version: 2, appVersion: "2")
        var facts = StoredResponseFacts(
            received: 0, version: 1, appVersion: "1", hasSameSensitiveData: false, hasValidData: false)
        #expect(decided(policy, .unreadable) == .fetch(.invalidTime))
        policy.maximumAge = 10
        #expect(decided(policy, .unreadable) == .fetch(.invalidMetadata))
        #expect(decided(policy, .nothing) == .fetch(.absent))
        #expect(decided(policy, .storedResponse(facts)) == .fetch(.expired))
        facts.received = 995
        #expect(decided(policy, .storedResponse(facts)) == .fetch(.versionMismatch))
        facts.version = 2
        #expect(decided(policy, .storedResponse(facts)) == .fetch(.sensitiveDataMismatch))
        facts.hasSameSensitiveData = true
        #expect(decided(policy, .storedResponse(facts)) == .fetch(.appVersionMismatch))
        facts.appVersion = "2"
        #expect(decided(policy, .storedResponse(facts)) == .fetch(.invalidData))
        facts.hasValidData = true
        #expect(decided(policy, .storedResponse(facts)) == .use(.fresh))
    }

    @Test func missReasonsHaveYTKNetworkCodes() {
        let reasons: [CacheReason] = [
            .expired, .versionMismatch, .sensitiveDataMismatch, .appVersionMismatch, .invalidTime, .invalidMetadata,
            .invalidData,
        ]
        #expect(reasons.map(\.ytkCode) == [-1, -2, -3, -4, -5, -6, -7])
        #expect(CacheReason.absent.ytkCode == -6 && CacheReason.fresh.ytkCode == nil)
    }

    @Test(arguments: [
        (1000, 1000, true), (1001, 1000, true), (1010, 1000, true), (1011, 1000, false), (999, 1000, false),
        (Int64.max, Int64.min, false), (Int64.min, Int64.max, false), (0, Int64.min, false),
    ])
    func entryAtItsAgeLimitIsAHitAndOneFromTheFutureIsAMiss(now: Int64, received: Int64, isUsed: Bool) {
        let decision = decided(
            now: now, CacheCriteria(maximumAge: 10),
            .storedResponse(StoredResponseFacts(received: received, hasValidator: true)))
        #expect(decision == (isUsed ? .use(.fresh) : .revalidate(.expired)))
    }

    @Test func entryOfAnotherIdentityIsNotRevalidated() {
        let facts = StoredResponseFacts(received: 0, version: 1, hasValidator: true)
        #expect(decided(CacheCriteria(maximumAge: 10), .storedResponse(facts)) == .fetch(.expired))
        let same = CacheCriteria(maximumAge: 10, version: 1)
        #expect(decided(same, .storedResponse(facts)) == .revalidate(.expired))
        #expect(
            decided(CacheCriteria(maximumAge: 10, version: 1, revalidates: false), .storedResponse(facts))
                == .fetch(.expired))
    }

    /// Compares 10⁶ combinations of times and policies, most of them near the limits, with the rule in 128 bits.
    @Test func clockChangesNeverMakeAnEntryYounger() {
        var random = Sequence64(state: 7)
        var uses = 0
        for _ in 0..<1_000_000 {
            let now = random.moment()
            let received = random.next() % 3 == 0 ? random.moment() : now &- Int64(random.next() % 64) &+ 20
            let maximumAge = Int64(random.next() % 40) - 4
            let isSame = random.next() % 8 != 0
            var facts = StoredResponseFacts(received: received, version: isSame ? 3 : 4)
            facts.hasValidator = random.next() % 2 == 0
            let decision = CacheDecision(
                now: now, policy: CacheCriteria(maximumAge: maximumAge, version: 3), entry: .storedResponse(facts))
            // 128 bits cannot overflow here.
            let age = Int128(now) - Int128(received)
            let isUsable = maximumAge >= 0 && age >= 0 && age <= Int128(maximumAge) && isSame
            if decision.isUse != isUsable {
                Issue.record("\(now) \(received) \(maximumAge) \(isSame): \(decision)")
                return
            }
            uses += isUsable ? 1 : 0
        }
        #expect(uses > 100_000 && uses < 900_000)
    }
}

/// A reproducible pseudorandom sequence (xorshift64*).
private struct Sequence64 {
    var state: UInt64

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 2_685_821_657_736_338_717
    }

    /// Returns a time: today, in 2038, or at the limits of the type.
    mutating func moment() -> Int64 {
        switch next() % 5 {
        case 0: Int64(truncatingIfNeeded: next())
        case 1: Int64.max - Int64(next() % 100)
        case 2: Int64.min + Int64(next() % 100)
        case 3: 2_147_483_648_000 + Int64(next() % 100)
        default: Int64(next() % 100) - 50
        }
    }
}
