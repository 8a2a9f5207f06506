import Testing

@testable import NetKit

/// Commands to a download that is about to begin.
struct DownloadPlanTests {
    @Test func resumeBetweenAPauseAndItsCommandTakesEffect() {
        let plan = DownloadPlan(path: "file", options: DownloadOptions(), destinations: [])
        let commands = Lock<[String]>([])
        plan.setPaused(true)
        plan.prepareAttempt()
        plan.began(
            DownloadPlan.Operations(
                pause: {
                    // Simulates another thread that resumes just before this pause is sent.
                    if commands.withLock({ $0.isEmpty }) {
                        plan.setPaused(false)
                    }
                    commands.withLock { $0.append("pause") }
                },
                resume: { commands.withLock { $0.append("resume") } }, setPriority: { _ in }))
        #expect(commands.withLock { $0.last } == "resume")
        plan.ended(file: nil, token: nil)  // Breaks the cycle: the plan holds the closures, which hold the plan.
    }
}
