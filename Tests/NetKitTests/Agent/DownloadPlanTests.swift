import Testing

@testable import NetKit

/// Commands to a download that is about to begin.
struct DownloadPlanTests {
    @Test func aResumeThatComesBetweenThePauseAndItsSendingCounts() {
        let plan = DownloadPlan(path: "file", options: DownloadOptions(), destinations: [], tell: nil)
        let orders = Lock<[String]>([])
        plan.setPaused(true)
        plan.begins()
        plan.began(
            DownloadPlan.Reins(
                pause: {
                    // Another thread's command arrives just before this one is sent.
                    if orders.withLock({ $0.isEmpty }) {
                        plan.setPaused(false)
                    }
                    orders.withLock { $0.append("pause") }
                },
                resume: { orders.withLock { $0.append("resume") } }, setPriority: { _ in }))
        #expect(orders.withLock { $0.last } == "resume")
        plan.ended(file: nil, token: nil)  // It has released its control closures.
    }
}
