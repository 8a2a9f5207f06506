import NetKit
import Testing

extension ConformanceCase {
    /// Cancellation, time limits and failures: each request ends exactly once.
    static let endings: [ConformanceCase] = [
        ConformanceCase("cancel-before-submit") { fixture in
            let agent = fixture.agent()
            let codes = await withTaskGroup(of: NetError.Code?.self) { group in
                group.cancelAll()
                let request = Request<Bytes>(fixture.url("/"))
                group.addTask { await thrown { () throws(NetError) in _ = try await agent.send(request) }?.code }
                group.addTask { await thrown { () throws(NetError) in _ = try await agent.stream(request) }?.code }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == [.cancelled, .cancelled])
            await agent.shutdown()
            #expect(fixture.requests.isEmpty)
        },
        ConformanceCase("cancel-before-head") { fixture in
            try fixture.play("/", ServerReply(hold: .beforeHead))
            let agent = fixture.agent()
            let request = Request<Bytes>(fixture.url("/"))
            let tasks = [
                Task { await thrown { () throws(NetError) in _ = try await agent.send(request) } },
                Task { await thrown { () throws(NetError) in _ = try await agent.stream(request) } },
            ]
            try await fixture.waitForHeld(2)
            for task in tasks {
                task.cancel()
                #expect(await task.value?.code == .cancelled)
            }
        },
        ConformanceCase("cancel-before-body") { fixture in
            try fixture.play("/", ServerReply(body: pattern(9), hold: .inBody(after: 0)))
            let agent = fixture.agent()
            let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
            let reading = Task { await thrown { () throws(NetError) in _ = try await stream.collect(upTo: 9) } }
            try await fixture.waitForHeld(1)
            reading.cancel()
            #expect(await reading.value?.code == .cancelled)
        },
        ConformanceCase("cancel-in-body") { fixture in
            try fixture.play("/", ServerReply(body: pattern(9), hold: .inBody(after: 5)))
            let agent = fixture.agent()
            let sending = Task {
                await thrown { () throws(NetError) in _ = try await agent.send(Request<Bytes>(fixture.url("/"))) }
            }
            try await fixture.waitForHeld(1)
            sending.cancel()
            #expect(await sending.value?.code == .cancelled)
        },
        ConformanceCase("cancel-while-saving-leaves-nothing") { fixture in
            let folder = try TemporaryFolder()
            try fixture.play("/", ServerReply(body: pattern(9), hold: .inBody(after: 5)))
            let agent = fixture.agent()
            let saving = Task {
                await thrown { () throws(NetError) in
                    _ = try await agent.download(
                        Request<Bytes>(fixture.url("/")), to: folder.file("body"), options: .init(isResumable: false))
                }
            }
            try await fixture.waitForHeld(1)
            saving.cancel()
            #expect(await saving.value?.code == .cancelled)
            await agent.shutdown()
            #expect(folder.names.isEmpty)
        },
        ConformanceCase("a-dropped-stream-ends") { fixture in
            try fixture.play("/", ServerReply(body: pattern(4 << 20), hold: .inBody(after: 100_000)))
            let agent = fixture.agent()
            do {
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
                #expect(stream.status == 200)
            }
            do {
                var chunks = try await agent.stream(Request<Bytes>(fixture.url("/"))).makeAsyncIterator()
                #expect(try await chunks.next()?.isEmpty == false)
            }
            // Returns only when both transfers have ended, although the server released neither.
            await agent.shutdown()
        },
        ConformanceCase("a-stream-outlives-its-agent") { fixture in
            try fixture.play("/", ServerReply(body: pattern(100_000), pieceBytes: 10_000))
            let stream = try await fixture.agent().stream(Request<Bytes>(fixture.url("/")))
            #expect(try await stream.collect(upTo: 100_000) == Bytes(pattern(100_000)))
        },
        ConformanceCase("every-outcome-comes-once") { fixture in
            try fixture.play("/", .text("x"))
            let agent = fixture.agent { $0.maxConnectionsPerHost = 4 }
            let request = Request<Bytes>(fixture.url("/"))
            let ends = Counter()
            let codes = await withTaskGroup(of: NetError.Code?.self) { group in
                for index in 0..<400 {
                    group.addTask {
                        let task = Task {
                            defer { ends.increment() }
                            return await thrown { () throws(NetError) in _ = try await agent.send(request) }
                        }
                        if index % 2 == 0 {
                            for _ in 0..<index % 16 {
                                await Task.yield()
                            }
                            task.cancel()
                        }
                        return await task.value?.code
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes.count == 400)
            #expect(ends.value == 400)
            #expect(codes.count { $0 == nil } >= 200)
            #expect(Set(codes).isSubset(of: [nil, .cancelled]))
        },
    ]
}
