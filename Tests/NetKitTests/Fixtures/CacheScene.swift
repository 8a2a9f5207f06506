import FoundationEssentials
import NetKit
import NetKitTesting

/// An agent with a cache in memory, over a stub, in a time of its own.
struct CacheScene {
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

    /// Seconds go by.
    func pass(_ seconds: Int) {
        time.advance(by: .seconds(seconds))
    }

    /// What the events were, in words.
    var names: [String] { events.values.map(\.story) }
}

extension CacheRules {
    /// By an app's policy of this many seconds, written before the call ends.
    static func app(
        _ seconds: Int, _ mode: CacheMode = .cacheElseNetwork, change: (inout CachePolicy) -> Void = { _ in }
    ) -> CacheRules {
        var policy = CachePolicy(maximumAge: .seconds(seconds), mode: mode)
        policy.writesAsynchronously = false
        change(&policy)
        return .application(policy)
    }

    /// By the server's word, written before the call ends.
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
    /// The same request by these rules.
    func cached(_ rules: CacheRules) -> Request {
        var request = self
        request.caching = rules
        return request
    }
}
