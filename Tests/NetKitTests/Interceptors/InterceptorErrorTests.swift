import NetKit
import NetKitTesting
import Testing

/// An interceptor may throw any error and await any function.
struct InterceptorErrorTests {
    private struct Locked: Error {}

    private struct Failing: Interceptor {
        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            try await Task.sleep(for: .zero)
            throw Locked()
        }
    }

    private struct Sleeping: Interceptor {
        let started: Gate

        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            started.open()
            try await Task.sleep(for: .seconds(1_000))
            return try await next(call)
        }
    }

    private struct Waiting: Interceptor {
        func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
            try await Task.sleep(for: .zero)
            return try await next(call)
        }
    }

    private let stub = StubTransport()

    private func agent(_ interceptors: any Interceptor...) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.interceptors = interceptors
        stub.register("*", with: .text("ok"))
        return Agent(configuration, transport: stub)
    }

    @Test func errorOfAnInterceptorIsTheUnderlyingError() async throws {
        let agent = agent(Failing())
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>("p")) }
        #expect(error?.code == .stoppedByCaller && error?.underlying is Locked)
        #expect(error?.message.contains("Failing") == true)
        #expect(stub.requests.isEmpty)
    }

    @Test func interceptorMayWaitBeforeItPassesTheCallOn() async throws {
        #expect(try await agent(Waiting()).send(Request<String>("p")).value == "ok")
    }

    @Test func cancelledSleepOfAnInterceptorIsACancelledCall() async throws {
        let started = Gate()
        let agent = agent(Sleeping(started: started))
        let task = Task { () async throws(NetError) in try await agent.send(Request<String>("p")).value }
        try await started.opened()
        task.cancel()
        let error = await #expect(throws: NetError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(stub.requests.isEmpty)
    }

    @Test func retrySeesTheErrorOfAnInnerInterceptor() async throws {
        let agent = agent(Retry(), Failing())
        let error = await #expect(throws: NetError.self) { try await agent.send(Request<String>("p")) }
        #expect(error?.underlying is Locked)
    }
}
