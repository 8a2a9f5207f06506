/// Wraps every call of an agent, of a service, or of one request.
///
///     struct Stamp {}
///     extension Stamp: Interceptor {
///         func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
///             var call = call
///             call.request.headers["X-Stamp"] = "1"
///             return try await next(call)
///         }
///     }
///     configuration.interceptors = [Retry(), Stamp()]
///
/// An interceptor can change the request, return its own response, or inspect and replace the response. It can call
/// `next` any number of times. Each call of `next` sends the request again. If the interceptor throws, the call ends
/// with that error.
///
/// An interceptor can also decide about redirects, challenges, response heads and what is stored: see
/// ``transferHooks``.
///
/// Write the conformance in an extension, as above. Then the compiler warns about a method or property that nearly
/// matches a requirement with a default, such as `var transferHooks: TransferHooks?`. In the declaration of the type,
/// the compiler accepts it without a warning, and NetKit does not call it.
///
/// The same interceptors run for `send`, `stream` and `save`. They run on the caller's task, and concurrently for
/// different calls.
public protocol Interceptor: Sendable {
    /// Handles one call, usually by calling `next`.
    ///
    /// It may throw any error. A ``NetError`` ends the call unchanged, a `CancellationError` as
    /// ``NetError/Code/cancelled``, and any other error as ``NetError/Code/stoppedByCaller``, with the error as
    /// ``NetError/underlying``.
    func intercept(_ call: Call, next: Next) async throws -> ChainResponse

    /// Returns the request with the credentials that this interceptor would add, or `nil` (the default) if it adds
    /// none.
    ///
    /// ``Caching`` and ``RequestDeduplication`` call this method of the interceptors behind them, so that two users
    /// never share a response. It must be fast and must not send anything.
    func identified(_ request: Request<Bytes>) -> Request<Bytes>?

    /// The interceptor's decisions during a transfer: about redirects, challenges, bodies to send again, response heads
    /// and what is stored. By default there are none. ``TransferHooks`` describes which interceptor decides.
    ///
    /// The hooks of an ``OriginBoundInterceptor`` do not run if its ``intercept(_:next:)`` does not run.
    ///
    /// NetKit reads the hooks several times: those of an agent's interceptors when the agent is created and invalidated,
    /// those of a service or a request during each call. Return the same hooks each time, without expensive work.
    var transferHooks: TransferHooks { get }
}

extension Interceptor {
    /// Returns `nil`.
    public func identified(_ request: Request<Bytes>) -> Request<Bytes>? { nil }

    /// No hooks.
    public var transferHooks: TransferHooks { TransferHooks() }
}

/// The part of the chain behind an interceptor: the next interceptor, or the transport at the end.
public struct Next: Sendable {
    private let chain: CallChain
    private let index: Int

    /// Creates the end of a chain from a closure, for example to test an interceptor alone.
    public init(_ exchange: @escaping @Sendable (Call) async throws(NetError) -> ChainResponse) {
        self.init(CallChain([], end: ClosureEnd(exchange: exchange)))
    }

    init(_ chain: CallChain, index: Int = 0) {
        self.chain = chain
        self.index = index
    }

    /// Passes the call to the next interceptor, or to the transport, and returns the response.
    public func callAsFunction(_ call: Call) async throws(NetError) -> ChainResponse {
        if index < chain.interceptors.count {
            let interceptor = chain.interceptors[index]
            do {
                return try await interceptor.intercept(call, next: Next(chain, index: index + 1))
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the interceptor \(type(of: interceptor)) failed")
            }
        }
        return try await chain.end.exchange(call, chain.hooks)
    }
}

extension Next {
    /// The agent's settings and state that caches use.
    var cacheContext: CacheContext { chain.end.cacheContext }

    /// The hooks of all interceptors of the call.
    var transferHooks: TransferHooks { chain.hooks }

    /// The identity of the agent; `nil` if the end is a closure.
    var owner: ObjectIdentifier? { chain.end.owner }

    /// Returns the call with the credentials that the interceptors from here on would add.
    func identified(_ call: Call) -> Call { chain.identified(call, from: index) }
}

/// The end of a chain of interceptors.
protocol CallEnd: Sendable {
    func exchange(_ call: Call, _ hooks: TransferHooks) async throws(NetError) -> ChainResponse
    var cacheContext: CacheContext { get }
    /// The identity of the agent's ``CallRunner``; `nil` if the end is a closure.
    var owner: ObjectIdentifier? { get }
}

extension CallEnd {
    var cacheContext: CacheContext { CacheContext() }
    var owner: ObjectIdentifier? { nil }
}

private struct ClosureEnd: CallEnd {
    let exchange: @Sendable (Call) async throws(NetError) -> ChainResponse

    func exchange(_ call: Call, _ hooks: TransferHooks) async throws(NetError) -> ChainResponse {
        try await exchange(call)
    }
}

/// Interceptors in order, outermost first.
final class CallChain: Sendable {
    let interceptors: [any Interceptor]
    /// The hooks of the interceptors.
    let hooks: TransferHooks
    let end: any CallEnd

    init(_ interceptors: [any Interceptor], _ hooks: TransferHooks = TransferHooks(), end: any CallEnd) {
        self.interceptors = interceptors
        self.hooks = hooks
        self.end = end
    }

    /// Returns the call with the credentials that the interceptors from `place` on would add.
    func identified(_ call: Call, from index: Int = 0) -> Call {
        var call = call
        for interceptor in interceptors[index...] {
            if let identified = interceptor.identified(call.request) {
                call.request = identified.markingIdentity(comparedTo: call.request)
            }
        }
        return call
    }
}

extension Request {
    /// The request's own interceptors, outermost first. They run behind the agent's, closer to the network.
    public var interceptors: [any Interceptor] {
        get { callSettings?.value.interceptors ?? [] }
        set { settings.interceptors = newValue }
    }
}

/// An interceptor that adds data for trusted origins only, such as credentials or a signature.
///
/// If the interceptor belongs to an agent, it does not run for requests to other origins than the agent's (see
/// ``Agent/Configuration/trustedOrigins``). If it belongs to a service, the service's origins count. A request's own
/// interceptor always runs. Without a base URL, all interceptors run for all origins.
public protocol OriginBoundInterceptor: Interceptor {}

/// The additions that are withheld from a request: the agent's, the service's, or both. They are withheld if the
/// request's URL does not have one of their trusted origins.
struct WithheldAdditions: OptionSet, Sendable {
    let rawValue: UInt8

    static let agent = WithheldAdditions(rawValue: 1)
    static let service = WithheldAdditions(rawValue: 2)
}

extension Request {
    /// The additions that are withheld from this request.
    var withheldAdditions: WithheldAdditions { callSettings?.value.withheldAdditions ?? [] }
}

extension RequestContent {
    mutating func setWithheldAdditions(_ withheldAdditions: WithheldAdditions) {
        if withheldAdditions != callSettings?.value.withheldAdditions ?? [] {
            settings.withheldAdditions = withheldAdditions
        }
    }
}
