import FoundationEssentials
import NetKit
import NetKitTesting

/// An agent with a cache in memory, a stub transport and a simulated clock.
struct CacheFixture {
    let stub = StubTransport()
    let time = StubTime()
    let store: any CacheStore
    let caching: Caching
    let agent: Agent
    let events = Collected<Event>()

    init(
        _ rules: CacheRules = .off, store: (any CacheStore)? = nil, behind: [any Interceptor] = [],
        configured change: (inout Agent.Configuration) -> Void = { _ in }
    ) {
        self.store = store ?? MemoryCacheStore()
        caching = Caching(self.store, rules: rules, time: time.source)
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [caching] + behind
        configuration.observers = [Watcher(events: events)]
        configuration.userAgent = nil
        change(&configuration)
        agent = Agent(configuration, transport: stub)
    }

    /// Advances the clock.
    func pass(_ seconds: Int) {
        time.advance(by: .seconds(seconds))
    }

    /// The events, each in a few words.
    var names: [String] { events.values.map(\.story) }
}

extension CacheRules {
    /// Rules of an application policy with this lifetime in seconds. Responses are stored before the call ends.
    static func app(
        _ seconds: Int, _ mode: CacheMode = .cacheElseNetwork, change: (inout CachePolicy) -> Void = { _ in }
    ) -> CacheRules {
        var policy = CachePolicy(maximumAge: .seconds(seconds), mode: mode)
        policy.writesAsynchronously = false
        change(&policy)
        return .application(policy)
    }

    /// Rules of RFC 9111. Responses are stored before the call ends.
    static func server(_ mode: CacheMode = .cacheElseNetwork, change: (inout HTTPCachePolicy) -> Void = { _ in })
        -> CacheRules
    {
        var policy = HTTPCachePolicy(mode: mode)
        policy.writesAsynchronously = false
        change(&policy)
        return .http(policy)
    }
}

extension Request {
    /// Returns the request with these cache rules.
    func cached(_ rules: CacheRules) -> Request {
        var request = self
        request.caching = rules
        return request
    }
}
