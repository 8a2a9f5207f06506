/// Wraps every call of an agent.
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
/// An interceptor can change the request, return its own response, or inspect and replace the response. It can call
/// `next` any number of times: each time sends the request again. An error thrown here ends the call.
///
/// Send, stream and save use the same chain. Interceptors run on the caller's task and concurrently for different
/// calls.
public protocol Interceptor: Sendable {
    /// Handles one call, usually by calling `next`.
    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer

    /// Returns the request with the credentials that this interceptor would add, or `nil` (the default) if it adds
    /// none.
    ///
    /// ``Caching`` and ``Repeats`` call this on the interceptors behind them, to distinguish users whose credentials
    /// are added later. It must be fast and must not send anything.
    func identified(_ request: Request<Bytes>) -> Request<Bytes>?
}

extension Interceptor {
    /// `nil`.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? { nil }
}

/// The rest of the chain behind an interceptor: the next one, or the transport at the end.
public struct Next: Sendable {
    private let chain: CallChain
    private let place: Int

    /// Creates an end from a closure, to run an interceptor separately.
    public init(_ exchange: @escaping @Sendable (Call) async throws(NetError) -> Answer) {
        self.init(CallChain([], end: ClosureEnd(exchange: exchange)))
    }

    init(_ chain: CallChain, place: Int = 0) {
        self.chain = chain
        self.place = place
    }

    /// Continues with the call.
    public func callAsFunction(_ call: Call) async throws(NetError) -> Answer {
        if place < chain.interceptors.count {
            return try await chain.interceptors[place].intercept(call, next: Next(chain, place: place + 1))
        }
        return try await chain.end.exchange(call)
    }
}

extension Next {
    /// The agent's settings for caches.
    var cacheContext: CacheContext { chain.end.cacheContext }

    /// The owner of the chain; `nil` for a closure's chain.
    var owner: ObjectIdentifier? { chain.end.owner }

    /// Returns the call with the credentials that the interceptors from here on would add.
    func identified(_ call: Call) -> Call { chain.identified(call, from: place) }
}

/// The end of a chain of interceptors.
protocol CallEnd: Sendable {
    func exchange(_ call: Call) async throws(NetError) -> Answer
    var cacheContext: CacheContext { get }
    /// The agent's exchange; `nil` in a test.
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

/// Interceptors in order, outermost first.
final class CallChain: Sendable {
    let interceptors: [any Interceptor]
    let end: any CallEnd

    init(_ interceptors: [any Interceptor], end: any CallEnd) {
        self.interceptors = interceptors
        self.end = end
    }

    /// Returns the call with the credentials that the interceptors from `place` on would add.
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
    /// The request's own interceptors, outermost first. They run behind the agent's, closer to the network.
    public var interceptors: [any Interceptor] {
        get { self[InterceptorsNote.self] }
        set { self[InterceptorsNote.self] = newValue }
    }
}
