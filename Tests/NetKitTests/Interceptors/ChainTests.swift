import NetKit
import NetKitTesting
import Testing

struct ChainTests {
    private let stub = StubTransport()
    private let log = Collected<String>()

    private func agent(_ interceptors: (any Interceptor)...) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = interceptors
        return Agent(configuration, transport: stub)
    }

    private func read(_ stream: ResponseStream) async throws -> String {
        try await stream.collect(upTo: 1 << 20).text
    }

    @Test func theFirstInterceptorIsTheOutermostAndTheRequestsOwnAreTheInnermost() async throws {
        stub.register("/", with: .text("x"))
        var request = Request<String>("/")
        request.interceptors = [Probe(name: "c", log: log)]
        let agent = agent(Probe(name: "a", log: log), Probe(name: "b", log: log))
        #expect(try await agent.send(request).value == "x")
        #expect(log.values == ["a out send", "b out send", "c out send", "c back 200", "b back 200", "a back 200"])
    }

    /// Records where an interceptor and the transport ran.
    private struct ExecutorRecorder: Interceptor, Transport {
        let seen = Collected<Bool>()

        func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
            seen.append(#isolation === MainActor.shared)
            let response = try await next(call)
            seen.append(#isolation === MainActor.shared)
            return response
        }

        func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
            seen.append(#isolation === MainActor.shared)
            return Response(status: 200)
        }

        func shutdown() async {}
    }

    @Test @MainActor func interceptorsAndTransportRunOnTheCallersExecutor() async throws {
        let recorder = ExecutorRecorder()
        var configuration = Agent.Configuration()
        configuration.interceptors = [recorder]
        let agent = Agent(configuration, transport: recorder)
        _ = try await agent.send(Request<Bytes>("http://stub/"))
        _ = try await agent.stream(Request<Bytes>("http://stub/"))
        #expect(recorder.seen.values == [Bool](repeating: true, count: 6))
    }

    @Test func requestInterceptorsWorkWithoutAgentInterceptors() async throws {
        stub.register("/", with: .status(204))
        var request = Request<Bytes>("/")
        request.interceptors = [Probe(name: "own", log: log)]
        let agent = agent()
        _ = try await agent.send(request)
        _ = try await agent.send(Request<Bytes>("/"))
        #expect(log.values == ["own out send", "own back 204"])
    }

    @Test func sendStreamAndSaveGoThroughTheSameChain() async throws {
        let folder = try TemporaryFolder()
        stub.register("/", with: .text("body"))
        let agent = agent(Probe(name: "a", log: log))
        #expect(try await agent.send(Request<String>("/")).value == "body")
        #expect(try await read(agent.stream(Request<Bytes>("/"))) == "body")
        let saved = try await agent.download(
            Request<Bytes>("/"), to: folder.file("saved"), options: .init(isResumable: false))
        #expect(saved.value == DownloadedFile(path: folder.file("saved"), byteCount: 4))
        #expect(
            log.values == [
                "a out send", "a back 200", "a out stream", "a back 200", "a out save", "a back 200",
            ])
    }

    @Test func interceptorReceivesTheCompleteRequestAndCanChangeIt() async throws {
        stub.register("/there", with: .text("there"))
        let log = log
        let agent = agent(
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                log.append("\(call.request.url) \(call.request.limits != nil)")
                var call = call
                call.request.url = "http://stub/there"
                call.request.headers["X-Added"] = "1"
                return try await next(call)
            })
        #expect(try await agent.send(Request<String>("here")).value == "there")
        #expect(log.values == ["http://stub/here true"])
        #expect(stub.requests.first?.headers["X-Added"] == "1")
    }

    @Test func interceptorCanReturnAResponseWithoutSending() async throws {
        let folder = try TemporaryFolder()
        let agent = agent(Wrapping { _, _ in ChainResponse(Response(status: 200, "mine")) })
        #expect(try await agent.send(Request<String>("/")).value == "mine")
        #expect(try await read(agent.stream(Request<Bytes>("/"))) == "mine")
        #expect(
            try await agent.download(Request<Bytes>("/"), to: folder.file("f"), options: .init(isResumable: false))
                .value.byteCount == 4)
        #expect(folder.contents(of: "f") == Array("mine".utf8))
        #expect(stub.requests.isEmpty)
    }

    @Test func streamResponseCanAnswerASend() async throws {
        let folder = try TemporaryFolder()
        let agent = agent(
            Wrapping { _, _ in
                ChainResponse(ResponseStream(Response<Bytes>(status: 200), chunks: [Bytes([104]), Bytes([105])].async))
            })
        #expect(try await agent.send(Request<String>("/")).value == "hi")
        #expect(
            try await agent.download(Request<Bytes>("/"), to: folder.file("f"), options: .init(isResumable: false))
                .value.byteCount == 2)
        var request = Request<Bytes>("/")
        request.limits = Limits()
        request.limits.maxBodyBytes = 1
        #expect(await ending(of: request, from: agent) == .failed(.bodyTooLarge))
    }

    @Test func fileResponseCannotAnswerASend() async throws {
        let agent = agent(
            Wrapping { _, _ in ChainResponse(Response(status: 200), in: DownloadedFile(path: "/nowhere", byteCount: 1))
            })
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.usage))
    }

    @Test func anInterceptorsErrorEndsTheCall() async throws {
        stub.register("/", with: .text("x"))
        let agent = agent(
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                _ = try await next(call)
                throw NetError(.stoppedByCaller, "not this one")
            })
        #expect(await ending(of: Request<Bytes>("/"), from: agent) == .failed(.stoppedByCaller))
        let code = await failureCode { () async throws(NetError) in _ = try await agent.stream(Request<Bytes>("/")) }
        #expect(code == .stoppedByCaller)
    }

    @Test func statusAndDecodingAreCheckedAfterTheChain() async throws {
        stub.register("/", with: .status(503))
        let agent = agent(
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                let reply = try await next(call)
                return reply.status == 503 ? ChainResponse(Response(status: 200, "better")) : reply
            })
        #expect(try await agent.send(Request<String>("/")).value == "better")
        #expect(await ending(of: Request<[Int]>("/"), from: agent) == .failed(.decoding))
    }

    @Test func callIDsAreUniqueAndStableThroughTheChain() async throws {
        stub.register("/", with: .text("x"))
        let numbers = Collected<UInt64>()
        let marker = Wrapping { (call, next) async throws(NetError) -> ChainResponse in
            numbers.append(call.id)
            return try await next(call)
        }
        let agent = agent(marker, marker)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { _ = try? await agent.send(Request<Bytes>("/")) }
            }
        }
        #expect(numbers.values.count == 200)
        #expect(Set(numbers.values).count == 100)
    }

    @Test func cancellationPropagatesThroughTheChain() async throws {
        let gate = StubGate()
        stub.register("/", with: .text("late").held(by: gate))
        let agent = agent(Probe(name: "a", log: log))
        let task = Task { await ending(of: Request<Bytes>("/"), from: agent) }
        try await gate.waitForArrivals(1)
        task.cancel()
        #expect(await task.value == .failed(.cancelled))
        #expect(log.values == ["a out send"])
    }

    @Test func progressFinishesOncePerCall() async throws {
        stub.register("/", with: .status(503), .text("x"))
        let ends = Counter()
        var request = Request<Bytes>("/")
        request.progress = { progress in
            if progress.isOver {
                ends.increment()
            }
        }
        let agent = agent(
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                let first = try await next(call)
                first.discard()
                return try await next(call)
            })
        _ = try await agent.send(request)
        #expect(ends.value == 1)
        #expect(stub.requests.count == 2)
    }

    @Test func peekedStreamStillDeliversItsFirstBytes() async throws {
        stub.register("/", with: StubReply(body: [.text("abc"), .text("def"), .text("ghi")]))
        let log = log
        let agent = agent(
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                let (beginning, reply) = try await next(call).peek(upTo: 4)
                log.append(beginning.text)
                return reply
            })
        let stream = try await agent.stream(Request<Bytes>("/"))
        #expect(try await read(stream) == "abcdefghi")
        #expect(stream.metrics.isEmpty == false)
        #expect(try await agent.send(Request<String>("/")).value == "abcdefghi")
        #expect(log.values == ["abcd", "abcdefghi"])
    }

    @Test func requestOptionsStayWithTheRequestAndAreNotSent() async throws {
        enum Tag: RequestOption { static let defaultValue = 0 }
        stub.register("/", with: .text("x"))
        var request = Request<String>("/")
        #expect(request[Tag.self] == 0)
        request[Tag.self] = 7
        let copy = request.decoded(by: .bytes)
        #expect(copy[Tag.self] == 7)
        _ = try await agent().send(request)
        #expect(stub.requests.first?.request[Tag.self] == 7)
        #expect(stub.requests.first?.headers.map(\.name) == ["User-Agent"])
    }
}

extension Array where Element: Sendable {
    /// The elements, one by one.
    fileprivate var async: AsyncStream<Element> {
        AsyncStream { continuation in
            for element in self {
                continuation.yield(element)
            }
            continuation.finish()
        }
    }
}
