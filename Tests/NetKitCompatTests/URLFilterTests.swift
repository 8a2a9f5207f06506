import NetKit
import NetKitCompat
import NetKitTesting
import Testing

struct URLFilterTests {
    private let stub = StubTransport { _ in .text("x") }

    private func agent(_ interceptors: [any Interceptor]) -> Agent {
        var configuration = Agent.Configuration(baseURL: "http://agent/v1")
        configuration.interceptors = interceptors
        return Agent(configuration, transport: stub)
    }

    private func filteredURL(
        _ path: String, parameters: Parameters? = nil, _ filters: URLFilter...
    ) async throws(NetError) -> String? {
        _ = try await agent(filters).send(Request<Bytes>(path, parameters: parameters))
        return stub.requests.last?.url
    }

    @Test func filtersRunInOrderOnTheAbsoluteURL() async throws {
        let log = Collected<String>()
        let url = try await filteredURL(
            "get", parameters: ["a": 1],
            URLFilter { url, request in
                log.append("\(url) \(request.method)")
                return url.replacing("/v1/", with: "/v1/mobile/")
            },
            URLFilter { url, request in
                log.append("\(url) \(request.url)")
                return url + "#b"
            })
        #expect(url == "http://agent/v1/mobile/get?a=1#b")
        let filtered = "http://agent/v1/mobile/get?a=1"
        #expect(log.values == ["http://agent/v1/get?a=1 GET", "\(filtered) \(filtered)"])
    }

    @Test(arguments: [
        ("get", "http://agent/v1/get?key=value"), ("get?a=1", "http://agent/v1/get?a=1&key=value"),
        ("get#top", "http://agent/v1/get?key=value#top"), ("a b", "http://agent/v1/a%20b?key=value"),
    ])
    func parametersAreAddedToTheQuery(path: String, url: String) async throws {
        #expect(try await filteredURL(path, .adding(["key": "value"])) == url)
    }

    @Test func filterParametersFollowRequestParametersAndDoNotReplaceThem() async throws {
        let url = try await filteredURL("get", parameters: ["b": 1], .adding(["z": "a%b c"]))
        #expect(url == "http://agent/v1/get?b=1&z=a%25b%20c")
        #expect(try await filteredURL("get", .adding([:])) == "http://agent/v1/get")
        let own = try await filteredURL(
            "get?z=1", .adding(["z": 9]), .adding(["o": ["p": 2]]), .adding(["o": ["q": 9]]))
        #expect(own == "http://agent/v1/get?z=1&o%5Bp%5D=2")
    }

    @Test func parametersOfABodyDoNotContainThoseOfAFilter() async throws {
        let request = Request<Bytes>("post", method: .post, parameters: ["b": 1])
        _ = try await agent([URLFilter.adding(["z": 2])]).send(request)
        #expect(stub.requests.last?.url == "http://agent/v1/post?z=2" && stub.requests.last?.body.text == "b=1")
    }

    @Test func requestThatIsSentAgainGetsTheParametersOnce() async throws {
        let requests = Collected<Request<Bytes>>()
        let agent = agent([
            URLFilter.adding(["z": 2]),
            Wrapping { (call, next) async throws(NetError) -> ChainResponse in
                requests.append(call.request)
                return try await next(call)
            },
        ])
        _ = try await agent.send(Request<Bytes>("get", parameters: ["a": 1]))
        _ = try await agent.send(try #require(requests.values.first))
        #expect(stub.requests.map(\.url) == Array(repeating: "http://agent/v1/get?a=1&z=2", count: 2))
    }

    // In YTKNetwork absolute URLs bypassed every filter (Y9).
    @Test func onlyURLsAtTrustedOriginsAreFiltered() async throws {
        let filter = URLFilter.adding(["a": 1])
        #expect(try await filteredURL("http://there/x", filter) == "http://there/x")
        #expect(try await filteredURL("http://agent/x", filter) == "http://agent/x?a=1")
        var request = Request<Bytes>("x")
        request.baseURL = "http://cdn"
        _ = try await agent([filter]).send(request)
        #expect(stub.requests.last?.url == "http://cdn/x?a=1")
        request = Request("http://agent/x")
        request.isComplete = true
        _ = try await agent([filter]).send(request)
        #expect(stub.requests.last?.url == "http://agent/x")
    }

    @Test(arguments: [
        "http://mirror/get", "https://agent/v1/get", "http://agent:81/v1/get", "http://agent.mirror/v1", "get",
        "http://agent\\@mirror/get", "http://me@agent/v1", "//agent/v1/get", "",
    ])
    func filterCannotChangeTheOrigin(url: String) async throws {
        let code = await failureCode { () async throws(NetError) in
            _ = try await filteredURL("get", URLFilter { _, _ in url })
        }
        #expect(code == .badURL)
        #expect(stub.requests.isEmpty)
    }

    @Test func errorOfAFilterFailsTheRequest() async throws {
        struct Refusal: Error {}
        for (error, code) in [
            (Refusal() as any Error, NetError.Code.badURL), (NetError(.usage, "no"), .usage),
        ] {
            let failed = await failureCode { () async throws(NetError) in
                _ = try await filteredURL("get", URLFilter { _, _ in throw error })
            }
            #expect(failed == code)
        }
        #expect(stub.requests.isEmpty)
    }

    // YTKNetwork left filters out of its key, so that one host got another's response (Y1).
    @Test(arguments: [true, false])
    func cachesUseTheFilteredURL(isBeforeTheCache: Bool) async throws {
        let store = MemoryCacheStore()
        var policy = CachePolicy(maximumAge: .seconds(60))
        policy.writesAsynchronously = false
        let cache = Caching(store, rules: .application(policy))
        let agents = ["1", "2"].map { version in
            let filter = URLFilter.adding(["v": .string(version)])
            return agent(isBeforeTheCache ? [filter, cache] : [cache, filter])
        }
        var request = Request<Bytes>("get", parameters: ["ts": 1])
        request.cacheKeyParameters = { _ in [:] }
        for agent in agents {
            #expect(try await agent.cached(request).response == nil)
            _ = try await agent.send(request)
            #expect(try await agent.cached(request).response?.bytes.text == "x")
            #expect(try await agent.send(request).cache?.isHit == true)
        }
        let sent = ["http://agent/v1/get?ts=1&v=1", "http://agent/v1/get?ts=1&v=2"]
        #expect(stub.requests.map(\.url) == sent)
    }

    @Test func filterOfASigningListAllowsAdjustedParameters() async throws {
        var service = Service.Configuration()
        service.adjustParameters = { parameters, _ in (parameters ?? [:]).filled(from: ["adjusted": 1]) }
        service.signing = [URLFilter.adding(["z": 2])]
        var request = Request<Bytes>("get", parameters: ["a": 1])
        request.service = Service("s", service)
        _ = try await agent([]).send(request)
        #expect(stub.requests.last?.url.hasSuffix("&z=2") == true)
        #expect(stub.requests.last?.query?.contains("adjusted=1") == true)
    }
}
