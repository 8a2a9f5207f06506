import NetKit
import NetKitCompat
import NetKitTesting
import Testing

/// Parameters that are part of the cache key.
struct CachingParametersTests {
    private func request(_ parameters: Parameters, _ method: NetKit.Method = .get) -> Request<String> {
        var request = Request<String>("x", method: method, parameters: parameters)
        request.caching = .app(5000)
        request.cacheKeyParameters = { all in
            var counted = all
            counted["ts"] = nil
            return counted
        }
        return request
    }

    @Test(arguments: [NetKit.Method.get, .post])
    func filteredParametersDoNotSeparateEntries(method: NetKit.Method) async throws {
        let fixture = CacheFixture { $0.parameters = ["ts": 0, "v": 1] }
        fixture.stub.register("*", with: .text("first"), .text("second"))
        #expect(try await fixture.agent.send(request(["q": 1, "ts": 1], method)).value == "first")
        #expect(try await fixture.agent.send(request(["q": 1, "ts": 2], method)).value == "first")
        #expect(try await fixture.agent.send(request(["q": 2, "ts": 2], method)).value == "second")
        #expect(fixture.stub.requests.count == 2)
    }

    @Test func everyParameterIsPartOfTheKeyWithoutAFilter() async throws {
        let fixture = CacheFixture()
        fixture.stub.register("*", with: .text("first"), .text("second"))
        var request = request(["ts": 1])
        request.cacheKeyParameters = nil
        #expect(try await fixture.agent.send(request).value == "first")
        request.parameters = ["ts": 2]
        #expect(try await fixture.agent.send(request).value == "second")
    }

    @Test func cacheKeyUsesTheReformedParameters() async throws {
        let stub = StubTransport()
        stub.register("*", with: .text("first"), .text("second"))
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.interceptors = [
            ReformParameters { parameters, _ in
                var parameters = parameters
                let searchText = parameters?["q"]
                parameters?["user"] = searchText
                return parameters
            }, Caching(MemoryCacheStore()),
        ]
        let agent = Agent(configuration, transport: stub)
        #expect(try await agent.send(request(["q": 1, "ts": 1])).value == "first")
        #expect(try await agent.send(request(["q": 1, "ts": 2])).value == "first")
        #expect(try await agent.send(request(["q": 2, "ts": 2])).value == "second")
    }

    @Test func backgroundRefreshIsSignedAndReformedLikeTheCall() async throws {
        let behind: [any Interceptor] = [
            MD5Signing(publicKey: "public", privateKey: "private"),
            ReformParameters { parameters, _ in ["payload": parameters == nil ? "nothing" : "something"] },
        ]
        for interceptor in behind {
            let fixture = CacheFixture(behind: [interceptor])
            fixture.stub.register("*", with: .text("first"), .text("second"))
            let request = Request<String>("/x", parameters: ["a": 1]).cached(
                .app(5, .staleWhileRevalidate(.seconds(100))))
            _ = try await fixture.agent.send(request)
            fixture.pass(10)
            #expect(try await fixture.agent.send(request).value == "first")
            await fixture.caching.finish()
            #expect(fixture.stub.requests.count == 2)
            #expect(fixture.stub.requests.first?.url == fixture.stub.requests.last?.url)
        }
    }

    @Test func serviceAdjustmentAppliesToABackgroundRefresh() async throws {
        let fixture = CacheFixture()
        fixture.stub.register("*", with: .text("first"), .text("second"))
        var configuration = Service.Configuration()
        configuration.adjustParameters = { parameters, _ in
            var all = parameters ?? .object([])
            all["count"] = .init(all.fields.count)
            return all
        }
        var request = Request<String>("/x", parameters: ["a": 1]).cached(.app(5, .staleWhileRevalidate(.seconds(100))))
        request.service = Service("s", configuration)
        _ = try await fixture.agent.send(request)
        fixture.pass(10)
        _ = try await fixture.agent.send(request)
        await fixture.caching.finish()
        #expect(fixture.stub.requests.map(\.query) == ["a=1&count=1", "a=1&count=1"])
    }
}
