import NetKit
import NetKitAdapters
import NetKitTesting
import Testing

#if Tracing
import InMemoryTracing
import Tracing

/// Spans of calls and their attempts.
struct TracingTests {
    private struct AddsTraceParent: Interceptor {
        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            var call = call
            call.request.headers["traceparent"] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
            call.request.headers["tracestate"] = "vendor=1"
            return try await next(call)
        }
    }

    /// Returns the first response to all calls.
    private actor Remembers: Interceptor {
        private var response: ChainResponse?

        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            if let response {
                return response
            }
            let first = try await next(call)
            response = first
            return first
        }
    }

    private struct SendsAgain: Interceptor {
        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            try await next(call).discard()
            return try await next(call)
        }
    }

    /// A tracer that sends `traceparent`, as those for W3C Trace Context do.
    private struct W3CTracer: Tracer {
        let base: InMemoryTracer

        func startSpan<Instant: TracerInstant>(
            _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
            at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
        ) -> InMemorySpan {
            base.startSpan(
                operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID,
                line: line)
        }

        func forceFlush() {}

        func extract<Carrier, Extract>(
            _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
        ) where Extract: Extractor, Extract.Carrier == Carrier {}

        func inject<Carrier, Inject>(
            _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
        ) where Inject: Injector, Inject.Carrier == Carrier {
            guard let span = context.inMemorySpanContext else { return }
            injector.inject("\(span.traceID)/\(span.spanID)", forKey: "traceparent", into: &carrier)
        }
    }

    private let tracer = InMemoryTracer()

    private func agent(_ stub: StubTransport, _ interceptors: [any Interceptor]) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://stub.example:8080")
        configuration.interceptors = RequestTracing(tracer: W3CTracer(base: tracer)).around(interceptors)
        return Agent(configuration, transport: stub)
    }

    private func text(_ span: FinishedInMemorySpan, _ name: String) -> String? {
        switch span.attributes.get(name) {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case .int32(let number): "\(number)"
        default: nil
        }
    }

    @Test func aCallAndItsAttemptsHaveSpans() async throws {
        let stub = StubTransport()
        stub.register("/items", with: StubReply(status: 503), StubReply(status: 200))
        let agent = agent(stub, [SendsAgain()])
        _ = try await agent.send(Request<Bytes>("items?token=hush&page=2"))
        let spans = tracer.finishedSpans
        #expect(spans.count == 3)
        let call = try #require(spans.last)
        #expect(call.parentSpanID == nil && call.operationName == "GET" && call.kind == .client)
        #expect(text(call, "http.request.method") == "GET")
        #expect(text(call, "server.address") == "stub.example" && text(call, "server.port") == "8080")
        #expect(text(call, "http.response.status_code") == "200")
        #expect(text(call, "http.request.resend_count") == nil && call.status == nil)
        let url = try #require(text(call, "url.full"))
        #expect(url.hasPrefix("http://stub.example:8080/items?token=") && !url.contains("hush"))
        #expect(url.hasSuffix("page=2"))
        let attempts = spans.dropLast()
        #expect(attempts.allSatisfy { $0.parentSpanID == call.spanID && $0.traceID == call.traceID })
        #expect(attempts.map { text($0, "http.response.status_code") } == ["503", "200"])
        #expect(attempts.map { text($0, "http.request.resend_count") } == [nil, "1"])
        #expect(attempts.map { text($0, "error.type") } == ["503", nil])
        #expect(attempts.map { $0.status?.code } == [.error, nil])
        let sent = stub.requests.map { $0.request.headers.values(named: "traceparent") }
        #expect(sent == attempts.map { ["\($0.traceID)/\($0.spanID)"] })
    }

    @Test func aFailureIsAnErrorOfBothSpans() async throws {
        let stub = StubTransport { _ throws(NetError) -> StubReply in throw NetError(.reset, "the connection was reset")
        }
        await #expect(throws: NetError.self) { try await agent(stub, []).send(Request<Bytes>("items")) }
        #expect(tracer.finishedSpans.map { $0.status?.code } == [.error, .error])
        #expect(tracer.finishedSpans.map { text($0, "error.type") } == ["reset", "reset"])
    }

    @Test func theContextReplacesOneThatIsSetAlready() async throws {
        let stub = StubTransport()
        stub.register("/items", with: StubReply(status: 200))
        _ = try await agent(stub, [AddsTraceParent(), TracePropagation()]).send(Request<Bytes>("items"))
        let attempt = try #require(tracer.finishedSpans.first)
        let headers = try #require(stub.requests.first).request.headers
        #expect(headers.values(named: "traceparent") == ["\(attempt.traceID)/\(attempt.spanID)"])
        #expect(headers["tracestate"] == nil)
    }

    @Test func aSpanOfTheCallerIsTheParent() async throws {
        let stub = StubTransport()
        stub.register("/items", with: StubReply(status: 200))
        let agent = agent(stub, [])
        try await tracer.withSpan("page") { page in
            _ = try await agent.send(Request<Bytes>("items"))
            #expect(tracer.finishedSpans.last?.parentSpanID == page.spanID)
        }
    }

    @Test func aCachedResponseHasNoAttempt() async throws {
        let stub = StubTransport()
        stub.register("/items", with: StubReply(status: 200))
        let agent = agent(stub, [Remembers()])
        _ = try await agent.send(Request<Bytes>("items"))
        #expect(tracer.finishedSpans.count == 2)
        tracer.clearFinishedSpans()
        _ = try await agent.send(Request<Bytes>("items"))
        #expect(stub.requests.count == 1 && tracer.finishedSpans.count == 1)
    }

    @Test func anUnknownMethodIsOther() async throws {
        let stub = StubTransport()
        stub.register("/items", with: StubReply(status: 200))
        _ = try await agent(stub, []).send(Request<Bytes>("items", method: Method(rawValue: "BREW")))
        let call = try #require(tracer.finishedSpans.last)
        #expect(call.operationName == "HTTP" && text(call, "http.request.method") == "_OTHER")
        #expect(text(call, "http.request.method_original") == "BREW")
    }
}
#endif

#if ServiceLifecycle
import ServiceLifecycle

struct AgentServiceTests {
    @Test func aCancelledServiceClosesItsAgent() async throws {
        let stub = StubTransport()
        let agent = Agent(transport: stub)
        let task = Task { try await AgentService(agent).run() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<Bytes>("http://stub/")) }
        #expect(error?.code == .closed && stub.isShutDown)
    }
}
#endif
