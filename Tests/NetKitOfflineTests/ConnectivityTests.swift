import NetKit
import NetKitCompat
import NetKitOffline
import NetKitTesting
import Testing

/// Reachability and calls: checks before them, waiting, cellular networks, and retries.
struct ConnectivityTests {
    private let stub = StubTransport()
    private let path = StubPath(.notReachable)
    private let time = StubTime()
    private let reachability: Reachability

    init() {
        reachability = Reachability(path)
        stub.register("*", with: .text("hello"))
    }

    private func agent(allowsCellular: Bool = true, observers: [any Observer] = []) -> Agent {
        agent([ReachabilityCheck(reachability, allowsCellular: allowsCellular)], observers: observers)
    }

    private func agent(_ interceptors: [any Interceptor], observers: [any Observer] = []) -> Agent {
        var configuration = Agent.Configuration()
        configuration.interceptors = interceptors
        configuration.observers = observers
        return Agent(configuration, transport: stub)
    }

    private func code(_ request: Request<String>, _ agent: Agent) async -> NetError.Code? {
        do throws(NetError) {
            _ = try await agent.send(request)
            return nil
        } catch {
            return error.code
        }
    }

    // MARK: The check before a call (HZYNetwork, CTNetworking)

    @Test func callWithoutAPathFailsImmediatelyAndSendsNothing() async throws {
        let agent = agent()
        #expect(await code(Request("http://a.example/"), agent) == .unreachable)
        #expect(stub.requests.isEmpty)
        path.set(.viaCellular)
        #expect(await code(Request("http://a.example/"), agent) == nil)
    }

    @Test func callContinuesWhileReachabilityIsUnknown() async {
        path.set(.unknown)
        #expect(await code(Request("http://a.example/"), agent()) == nil)
    }

    @Test(arguments: [
        "http://localhost:8080/", "http://127.0.0.1/", "http://[::1]:81/", "https://app.localhost/",
        "http://user@127.9.9.9/",
    ])
    func localHostIsAlwaysReachable(url: String) async {
        #expect(await code(Request(url), agent()) == nil)
        #expect(path.lookups.isEmpty)
    }

    @Test func hostReachableWithoutADefaultRouteIsNotRejected() async {
        path.set(PathState(.viaWiFiOrWired), of: "printer.lan")
        path.set(PathState(.viaWiFiOrWired), of: "fd00::7")
        let agent = agent()
        #expect(await code(Request("http://printer.lan/"), agent) == nil)
        #expect(await code(Request("http://[fd00::7]:631/"), agent) == nil)
        #expect(await code(Request("http://other.lan/"), agent) == .unreachable)
        #expect(path.lookups == ["printer.lan", "fd00::7", "other.lan"])
    }

    @Test func proxyIsCheckedForReachability() async {
        path.set(PathState(.viaWiFiOrWired), of: "10.0.0.9")
        let agent = agent([ReachabilityCheck(reachability, proxy: Proxy("http://10.0.0.9:3128"))])
        #expect(await code(Request("http://a.example/"), agent) == nil)
        var direct = Request<String>("http://a.example/")
        direct.proxy = .direct
        #expect(await code(direct, agent) == .unreachable)
        var environment = direct
        environment.proxy = .environment
        #expect(await code(environment, agent) == nil)
        var otherConfiguration = direct
        otherConfiguration.addressOverrides = [AddressOverride(host: "a.example", toHost: "10.0.0.9")]
        #expect(await code(otherConfiguration, agent) == nil)
        var socket = direct
        socket.unixSocket = "/tmp/socket"
        #expect(await code(socket, agent) == nil)
    }

    // MARK: Cellular networks

    @Test func requestWithoutCellularAccessFailsBeforeItIsSent() async throws {
        path.set(PathState(.viaCellular, interface: "wwan0"))
        var request = Request<String>("http://a.example/")
        request.allowsCellular = false
        let agent = agent()
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .cellularRefused && error?.isRetryable == false)
        #expect(stub.requests.isEmpty)
        request.allowsCellular = true
        #expect(await code(request, agent) == nil)
        path.set(.viaWiFiOrWired)
        request.allowsCellular = false
        #expect(await code(request, agent) == nil)
    }

    @Test func agentCanDisallowCellularForAllRequests() async {
        path.set(.viaCellular)
        let agent = agent(allowsCellular: false)
        #expect(await code(Request("http://a.example/"), agent) == .cellularRefused)
        var asking = Request<String>("http://a.example/")
        asking.allowsCellular = true
        #expect(await code(asking, agent) == .cellularRefused)
        #expect(await code(Request("http://localhost/"), agent) == nil)
    }

    @Test func hostWithItsOwnRouteIsCheckedOnThatRoute() async {
        path.set(.viaCellular)
        path.set(PathState(.viaWiFiOrWired), of: "nas.lan")
        let agent = agent(allowsCellular: false)
        #expect(await code(Request("http://nas.lan/"), agent) == nil)
        path.set(.viaWiFiOrWired)
        path.set(PathState(.viaCellular), of: "10.1.1.1")
        #expect(await code(Request("http://10.1.1.1/"), agent) == .cellularRefused)
    }

    @Test func agentThatDisallowsCellularReportsAMissingPathAsUnreachable() async {
        #expect(await code(Request("http://a.example/"), agent(allowsCellular: false)) == .unreachable)
        #expect(stub.requests.isEmpty)
    }

    @Test func requestsWithDifferentPathOptionsAreNotJoined() async throws {
        path.set(.viaWiFiOrWired)
        let gate = StubGate()
        stub.register("*", with: .text("x").held(by: gate))
        let repeats = RequestDeduplication(.join)
        let agent = agent([repeats, ReachabilityCheck(reachability)])
        var refusing = Request<Bytes>("http://a.example/")
        refusing.allowsCellular = false
        var waiting = Request<Bytes>("http://a.example/")
        waiting.waitsForConnectivity = true
        var usual = Request<Bytes>("http://a.example/")
        usual.allowsCellular = true
        let requests = [Request("http://a.example/"), usual, refusing, waiting]
        let tasks = requests.map { request in Task { await ending(of: request, from: agent) } }
        while repeats.waitingCount < requests.count {
            await Task.yield()
        }
        try await gate.waitForArrivals(3)
        gate.open()
        for task in tasks {
            #expect(await task.value == .answered)
        }
        #expect(stub.requests.count == 3)
    }

    // MARK: Waiting

    private func waiting(_ total: Duration? = nil) -> Request<String> {
        var request = Request<String>("http://a.example/")
        request.waitsForConnectivity = true
        if let total {
            var limits = Limits()
            limits.total = total
            request.limits = limits
        }
        return request
    }

    @Test func waitingRequestIsSentWhenAPathAppears() async throws {
        let feed = EventFeed()
        let agent = agent(observers: [feed])
        let sending = Task { [request = waiting()] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting(let limit, .connectivity) = event.change {
                #expect(limit == .seconds(300))
                break
            }
        }
        #expect(stub.requests.isEmpty)
        path.set(.viaCellular)
        #expect(try await sending.value == "hello")
    }

    @Test func waitingRequestIsNotRejectedByAnEarlierCheck() async throws {
        let feed = EventFeed()
        let agent = agent(observers: [feed])
        let sending = Task { [request = waiting()] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting(_, .connectivity) = event.change { break }
            if case .stopped = event.change { break }
        }
        #expect(stub.requests.isEmpty)
        path.set(.viaCellular)
        #expect(try await sending.value == "hello")
    }

    @Test func waitingRequestWithoutCellularAccessWaitsForAnotherPath() async throws {
        path.set(.viaCellular)
        let feed = EventFeed()
        let agent = agent(allowsCellular: false, observers: [feed])
        let sending = Task { [request = waiting()] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting(_, .connectivity) = event.change { break }
        }
        path.set(.notReachable)
        path.set(.viaCellular)
        #expect(stub.requests.isEmpty)
        path.set(.viaWiFiOrWired)
        #expect(try await sending.value == "hello")
    }

    @Test func waitTimeoutEndsTheWait() async throws {
        let agent = agent()
        let request = waiting(.milliseconds(30))
        let error = await #expect(throws: NetError.self) { try await agent.send(request) }
        #expect(error?.code == .timeout)
        #expect(stub.requests.isEmpty)
    }

    @Test func waitedTimeCountsTowardsTheTotalTimeout() async throws {
        let feed = EventFeed()
        let agent = agent(observers: [feed])
        let sending = Task { [request = waiting(.seconds(3_600))] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting = event.change { break }
        }
        path.set(.viaWiFiOrWired)
        _ = try await sending.value
        let left = try #require(stub.requests.first?.request.limits.total)
        #expect(left < .seconds(3_600) && left > .zero)
    }

    @Test func cancellingEndsTheWait() async throws {
        let feed = EventFeed()
        let agent = agent(observers: [feed])
        let sending = Task { [request = waiting()] in try await agent.send(request) }
        for await event in feed.events {
            if case .waiting = event.change { break }
        }
        sending.cancel()
        let error = await #expect(throws: NetError.self) { try await sending.value }
        #expect(error?.code == .cancelled)
    }

    @Test func waitingRequestIsSignedWhenItIsSent() async throws {
        let time = StubTime(epochSeconds: 1000)
        var configuration = Service.Configuration()
        configuration.signing = [RequestSigning(keyID: "app", key: [], time: time.source)]
        let feed = EventFeed()
        let agent = agent(observers: [feed])
        var request = waiting()
        request.service = Service("a", configuration)
        let sending = Task { [request] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting(_, .connectivity) = event.change { break }
        }
        time.advance(by: .seconds(200))
        path.set(.viaWiFiOrWired)
        #expect(try await sending.value == "hello")
        #expect(stub.requests[0].headers["X-Timestamp"] == "1200")
    }

    @Test func waitForConnectivityCanBeUnlimitedAndIsLogged() async throws {
        let lines = Collected<String>()
        let feed = EventFeed()
        let agent = agent(observers: [RequestLog { lines.append($0) }, feed])
        let sending = Task { [request = waiting(.seconds(Int64.max))] in try await agent.send(request).value }
        for await event in feed.events {
            if case .waiting(_, .connectivity) = event.change { break }
        }
        path.set(.viaWiFiOrWired)
        #expect(try await sending.value == "hello")
        #expect(lines.values.contains { $0.contains("waiting ") })
    }

    // MARK: Retry

    @Test func retryWaitsForThePathToReturn() async throws {
        let feed = EventFeed()
        let retry = Retry(time: time.source, reachability: reachability)
        let gate = StubGate()
        time.hold(by: gate)
        stub.register("/", with: .failure(.unreachable), .text("again"))
        let agent = agent([retry], observers: [feed])
        let sending = Task { try await agent.send(Request<String>("http://a.example/")).value }
        for await event in feed.events {
            if case .waiting(let wait, .connectivity) = event.change {
                #expect(wait == .seconds(60))
                break
            }
        }
        #expect(stub.requests.count == 1)
        path.set(.viaWiFiOrWired)
        #expect(try await sending.value == "again")
        #expect(time.waits.allSatisfy { $0 == .seconds(60) })
        gate.open()
    }

    @Test func checkAfterARetryAppliesToEachAttempt() async throws {
        let feed = EventFeed()
        let retry = Retry(reachability: reachability)
        let agent = agent([retry, ReachabilityCheck(reachability)], observers: [feed])
        let sending = Task { try await agent.send(Request<String>("http://a.example/")).value }
        for await event in feed.events {
            if case .waiting(_, .connectivity) = event.change { break }
        }
        #expect(stub.requests.isEmpty)
        path.set(.viaWiFiOrWired)
        #expect(try await sending.value == "hello")
        #expect(stub.requests.count == 1)
    }

    @Test func retryWithAPathUsesTheNormalBackoff() async throws {
        path.set(.viaWiFiOrWired)
        var retry = Retry(time: time.source, reachability: reachability)
        retry.hasJitter = false
        stub.register("/", with: .failure(.reset), .text("again"))
        #expect(try await agent([retry]).send(Request<String>("http://a.example/")).value == "again")
        #expect(time.waits == [.milliseconds(200)])
    }

    @Test(arguments: ["http://localhost:8080/", "http://10.0.0.7/"])
    func retryOfALocalHostUsesTheNormalBackoff(url: String) async throws {
        path.set(PathState(.viaWiFiOrWired), of: "10.0.0.7")
        var retry = Retry(time: time.source, reachability: reachability)
        retry.hasJitter = false
        stub.register("/", with: .failure(.refused), .text("again"))
        #expect(try await agent([retry]).send(Request<String>(url)).value == "again")
        #expect(time.waits == [.milliseconds(200)])
    }
}
