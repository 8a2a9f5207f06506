/// Stands between an agent and its transport, and wraps each call that goes through.
///
///     struct Stamp: Interceptor {
///         func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
///             var call = call
///             call.request.headers["X-Stamp"] = "1"
///             return try await next(call)
///         }
///     }
///     configuration.interceptors = [Retry(), Stamp()]
///
/// It may change the request, answer by itself, look at the reply or replace it, and call `next` as often as it likes:
/// each time is an exchange of its own. What it throws ends the call. Send, stream and save go through the same chain.
/// It runs where the caller runs, and on many tasks at once.
public protocol Interceptor: Sendable {
    /// Answers a call, as a rule by what `next` answers.
    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer

    /// The request as this interceptor would have it say who asks, were it sent now; nil, which is the default, leaves
    /// that to others.
    ///
    /// ``Caching`` and ``Repeats`` in front of it ask, to tell users apart who show what they are only behind them. It is
    /// to be quick, and nothing is sent of it.
    func identified(_ request: Request<Bytes>) -> Request<Bytes>?
}

extension Interceptor {
    /// Nil.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? { nil }
}

/// What comes after an interceptor: the next one, and at the end the exchange itself.
public struct Next: Sendable {
    private let chain: CallChain
    private let place: Int

    /// An end that is a closure's, to run an interceptor by itself.
    public init(_ exchange: @escaping @Sendable (Call) async throws(NetError) -> Answer) {
        self.init(CallChain([], end: ClosureEnd(exchange: exchange)))
    }

    init(_ chain: CallChain, place: Int = 0) {
        self.chain = chain
        self.place = place
    }

    /// Lets the call go on.
    public func callAsFunction(_ call: Call) async throws(NetError) -> Answer {
        if place < chain.interceptors.count {
            return try await chain.interceptors[place].intercept(call, next: Next(chain, place: place + 1))
        }
        return try await chain.end.exchange(call)
    }
}

extension Next {
    /// What the agent says of caching.
    var cacheContext: CacheContext { chain.end.cacheContext }

    /// Whose chain it is; nil where that is a closure's.
    var owner: ObjectIdentifier? { chain.end.owner }

    /// The call as those behind this place have it say who asks.
    func identified(_ call: Call) -> Call { chain.identified(call, from: place) }
}

/// Where a chain of interceptors ends.
protocol CallEnd: Sendable {
    func exchange(_ call: Call) async throws(NetError) -> Answer
    var cacheContext: CacheContext { get }
    /// The agent's exchange; nil for a test's.
    var owner: ObjectIdentifier? { get }
}

extension CallEnd {
    var cacheContext: CacheContext { CacheContext() }
    var owner: ObjectIdentifier? { nil }
}

private struct ClosureEnd: CallEnd {
    let exchange: @Sendable (Call) async throws(NetError) -> Answer

    func exchange(_ call: Call) async throws(NetError) -> Answer {
        try await exchange(call)
    }
}

/// Interceptors in order, the outermost first.
final class CallChain: Sendable {
    let interceptors: [any Interceptor]
    let end: any CallEnd

    init(_ interceptors: [any Interceptor], end: any CallEnd) {
        self.interceptors = interceptors
        self.end = end
    }

    /// The call as those from a place on have it say who asks.
    func identified(_ call: Call, from place: Int = 0) -> Call {
        var call = call
        for interceptor in interceptors[place...] {
            if let identified = interceptor.identified(call.request) {
                call.request = identified.tellingIdentity(beside: call.request)
            }
        }
        return call
    }
}

private enum InterceptorsNote: RequestNote {
    static let standard: [any Interceptor] = []
}

extension Request {
    /// Interceptors of this request alone, the outermost first: they stand behind the agent's, nearer to the wire.
    public var interceptors: [any Interceptor] {
        get { self[InterceptorsNote.self] }
        set { self[InterceptorsNote.self] = newValue }
    }
}
