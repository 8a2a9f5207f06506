import NetKit
import NetKitCompat
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ProgressTests {
    @Test func uploadProgressIsReportedToTheEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply())
        let reported = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"), method: .post, body: Body(Bytes(pattern(3_000_000))))
        request.progress = { reported.append($0) }
        _ = try await Agent().send(request)
        let last = try #require(reported.values.last { !$0.isOver })
        #expect(last.sent == 3_000_000)
        #expect(last.sendTotal == 3_000_000)
        #expect(last.fractionCompleted == 1)
        #expect(reported.values.filter(\.isOver).count == 1)
        #expect(reported.values.last?.isOver == true)
        #expect(zip(reported.values, reported.values.dropFirst()).allSatisfy { $0.sent <= $1.sent || $1.isOver })
    }

    @Test func downloadProgressIsReportedToTheEnd() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let reported = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { reported.append($0) }
        _ = try await Agent().send(request)
        let last = try #require(reported.values.last { !$0.isOver })
        #expect(last.received == 3_000_000)
        #expect(last.receiveTotal == 3_000_000)
        #expect(last.fractionCompleted == 1)
    }

    @Test func aBodyOfUnknownLengthHasNoFraction() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 100_000, chunkBytes: 1000))
        let reported = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { reported.append($0) }
        _ = try await Agent().send(request)
        let last = try #require(reported.values.last { !$0.isOver })
        #expect(last.received == 100_000)
        #expect(last.receiveTotal == nil)
        #expect(last.fractionCompleted == nil)
    }

    @Test func theStreamEndsWithTheTransfer() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 1_000_000))
        let agent = Agent()
        let (handler, updates) = TransferProgress.stream()
        var request = Request<Bytes>(server.url("/"))
        request.progress = handler
        let response = Task { [request] in try await agent.send(request) }
        var last = 0
        for await update in updates {
            #expect(update.received >= last)
            last = update.received
        }
        #expect(try await response.value.bytes.count == 1_000_000)
    }

    @Test func theStreamEndsWithAFailureToo() async throws {
        for url in ["http://127.0.0.1:1/", "nonsense"] {
            let (handler, updates) = TransferProgress.stream()
            var request = Request<Bytes>(url)
            request.progress = handler
            _ = await ending(of: request, from: Agent())
            for await _ in updates {}
            let (other, more) = TransferProgress.stream()
            request.progress = other
            let opened = try? await Agent().stream(request)
            #expect(opened == nil)
            for await _ in more {}
        }
    }

    @Test func theStreamEndsWithAStreamedBody() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 3_000_000))
        let reported = Collected<TransferProgress>()
        var request = Request<Bytes>(server.url("/"))
        request.progress = { reported.append($0) }
        let agent = Agent()
        let stream = try await agent.stream(request)
        #expect(!reported.values.contains { $0.isOver })
        #expect(try await stream.collect(upTo: 3_000_000).count == 3_000_000)
        await agent.shutdown()
        #expect(reported.values.filter(\.isOver).count == 1)
        #expect(reported.values.last?.isOver == true)
    }

    @Test func theStreamEndsOverAStub() async throws {
        let agent = Agent(transport: StubTransport { _ throws(NetError) in Response(status: 200) })
        for isStreamed in [false, true] {
            let (handler, updates) = TransferProgress.stream()
            var request = Request<Bytes>("http://h/")
            request.progress = handler
            if isStreamed {
                _ = try await agent.stream(request)
            } else {
                _ = try await agent.send(request)
            }
            for await _ in updates {}
        }
    }

    @Test func lastProgressContainsTheFinalCounts() async throws {
        let server = try LoopbackServer()
        server.script("/", Reply(patternLength: 200_000))
        server.script("/cut", Reply(patternLength: 200_000, cutAfter: 100_000, ending: .close))
        let agent = Agent()
        for path in ["/", "/cut"] {
            for kind in 0..<4 {
                let reported = Collected<TransferProgress>()
                var request = Request<Bytes>(server.url(path), method: .post, body: Body(Bytes(pattern(10_000))))
                request.progress = { reported.append($0) }
                switch kind {
                case 0: _ = try? await agent.send(request)
                case 1: _ = try? await agent.stream(request).collect(upTo: 1_000_000)
                case 2:
                    request.observers = [LoadingIndicator(show: {}, hide: {})]
                    _ = try? await agent.send(request)
                default:
                    let options = StartOptions(pausing: .releasingConnection)
                    _ = try? await agent.start(request, options: options).value
                }
                while reported.values.last?.isOver != true {
                    await Task.yield()
                }
                let last = try #require(reported.values.last)
                let before = try #require(reported.values.dropLast().last)
                #expect(last.sent == before.sent && last.sendTotal == 10_000 && last.sent == 10_000)
                #expect(last.received == before.received && last.receiveTotal == 200_000)
                #expect(path == "/cut" ? last.received < 200_000 : last.received == 200_000)
                #expect(path == "/cut" || last.fractionCompleted == 1)
            }
        }
        await agent.shutdown()
    }

    @Test func fractionRequiresAKnownTotal() {
        var progress = TransferProgress()
        #expect(progress.fractionCompleted == nil && progress.total == nil)
        progress.sendTotal = 100
        progress.sent = 50
        #expect(progress.fractionCompleted == 0.5 && progress.total == 100)
        progress.received = 1
        #expect(progress.fractionCompleted == nil && progress.total == nil)
        progress.receiveTotal = 100
        progress.sent = 100
        progress.received = 50
        #expect(progress.fractionCompleted == 0.75 && progress.total == 200)
        progress.receiveTotal = .max
        #expect(progress.total == .max)
    }
}
