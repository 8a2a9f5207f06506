import NetKit
import Testing

extension ConformanceCase {
    /// Concurrent requests, and shutdown of an agent.
    static let lives: [ConformanceCase] = [
        ConformanceCase("concurrent-sends") { fixture in
            for number in 0..<100 {
                try fixture.play("/\(number)", .text("reply \(number)"))
            }
            let agent = fixture.agent()
            let replies = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<100 {
                    group.addTask {
                        (number, try await agent.send(Request<String>(fixture.url("/\(number)"))).value)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(replies == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, "reply \($0)") }))
            #expect(Set(fixture.requests.map(\.target)) == Set((0..<100).map { "/\($0)" }))
        },
        ConformanceCase("replies-held-up-hold-nobody-else-up") { fixture in
            try fixture.play("/slow", ServerReply(body: Array("slow".utf8), hold: .beforeHead))
            try fixture.play("/quick", .text("quick"))
            let agent = fixture.agent()
            let slow = Task { try await agent.send(Request<String>(fixture.url("/slow"))).value }
            try await fixture.waitForHeld(1)
            #expect(try await agent.send(Request<String>(fixture.url("/quick"))).value == "quick")
            fixture.release()
            #expect(try await slow.value == "slow")
        },
        ConformanceCase("shutdown-waits-and-then-refuses") { fixture in
            try fixture.play("/", ServerReply(body: Array("slow".utf8), hold: .beforeHead))
            let agent = fixture.agent()
            let sending = Task { try await agent.send(Request<String>(fixture.url("/"))).value }
            try await fixture.waitForHeld(1)
            let isDown = Counter()
            let ending = Task {
                await agent.shutdown()
                isDown.increment()
            }
            #expect(isDown.value == 0)
            fixture.release()
            #expect(try await sending.value == "slow")
            await ending.value
            #expect(isDown.value == 1)
            let error = await thrown { () throws(NetError) in _ = try await agent.send(Request<Bytes>(fixture.url("/")))
            }
            #expect(error?.code == .closed)
            let streamed = await thrown { () throws(NetError) in
                _ = try await agent.stream(Request<Bytes>(fixture.url("/")))
            }
            #expect(streamed?.code == .closed)
        },
    ]
}
