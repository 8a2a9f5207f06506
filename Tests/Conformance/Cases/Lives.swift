import NetKit
import Testing

extension ConformanceCase {
    /// Concurrent requests, and shutdown of an agent.
    static let lives: [ConformanceCase] = [
        ConformanceCase("concurrent-sends") { scene in
            for number in 0..<100 {
                try scene.play("/\(number)", .text("reply \(number)"))
            }
            let agent = scene.agent()
            let replies = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for number in 0..<100 {
                    group.addTask {
                        (number, try await agent.send(Request<String>(scene.url("/\(number)"))).value)
                    }
                }
                return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            #expect(replies == Dictionary(uniqueKeysWithValues: (0..<100).map { ($0, "reply \($0)") }))
            #expect(Set(scene.requests.map(\.target)) == Set((0..<100).map { "/\($0)" }))
        },
        ConformanceCase("replies-held-up-hold-nobody-else-up") { scene in
            try scene.play("/slow", SceneReply(body: Array("slow".utf8), hold: .beforeHead))
            try scene.play("/quick", .text("quick"))
            let agent = scene.agent()
            let slow = Task { try await agent.send(Request<String>(scene.url("/slow"))).value }
            try await scene.waitForHeld(1)
            #expect(try await agent.send(Request<String>(scene.url("/quick"))).value == "quick")
            scene.release()
            #expect(try await slow.value == "slow")
        },
        ConformanceCase("shutdown-waits-and-then-refuses") { scene in
            try scene.play("/", SceneReply(body: Array("slow".utf8), hold: .beforeHead))
            let agent = scene.agent()
            let sending = Task { try await agent.send(Request<String>(scene.url("/"))).value }
            try await scene.waitForHeld(1)
            let isDown = Counter()
            let ending = Task {
                await agent.shutdown()
                isDown.increment()
            }
            #expect(isDown.value == 0)
            scene.release()
            #expect(try await sending.value == "slow")
            await ending.value
            #expect(isDown.value == 1)
            let error = await thrown { () throws(NetError) in _ = try await agent.send(Request<Bytes>(scene.url("/")))
            }
            #expect(error?.code == .closed)
            let streamed = await thrown { () throws(NetError) in
                _ = try await agent.stream(Request<Bytes>(scene.url("/")))
            }
            #expect(streamed?.code == .closed)
        },
    ]
}
