/// Work that an agent can run: a request, an endpoint, a batch, a chain, or a graph of steps. Each can be part of
/// another.
///
///     let answer = try await agent.send(Batch(login, Chain(cities).then { … }))
///
/// The value describes the work and can be run any number of times.
public protocol Errand<Outcome>: Sendable {
    /// The outcome of the work.
    associatedtype Outcome: ErrandOutcome

    /// A number that identifies this part in the failure of a larger whole; 0 (the default) is no number.
    var tag: Int { get }

    /// Runs the work and returns when no part of it is in flight.
    ///
    /// - Throws: an error of its parts; ``NetError/Code/cancelled`` soon after the task is cancelled.
    func run(through sender: some RequestSender) async throws(NetError) -> Outcome
}

extension Errand {
    /// 0.
    public var tag: Int { 0 }
}

/// The outcome of work that an agent runs.
public protocol ErrandOutcome<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The value.
    var value: Value { get }
    /// Whether all of it came from a cache.
    var isFromCache: Bool { get }
}

/// Sends requests: an ``Agent``, or a type that wraps one.
public protocol RequestSender: Sendable {
    /// Sends a request and decodes its response.
    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value>
}

extension Response: ErrandOutcome {
    /// Whether it came from a cache.
    public var isFromCache: Bool { source != .network && source != .stub }
}

extension RequestConvertible {
    /// Creates the request and sends it.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(try await groupedRequest())
    }
}

extension Request {
    /// Sends the request.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(self)
    }
}

/// A request whose value is the whole response, for a step that needs more than the body.
public struct WithResponse<Asked: RequestConvertible>: Errand {
    /// The outcome.
    public struct Outcome: ErrandOutcome {
        /// The response.
        public let value: Response<Asked.Value>
        /// Whether it came from a cache.
        public var isFromCache: Bool { value.isFromCache }
    }

    let asked: Asked

    /// The tag of the request.
    public var tag: Int { asked.tag }

    /// Sends the request.
    public func run(through sender: some RequestSender) async throws(NetError) -> Outcome {
        Outcome(value: try await asked.run(through: sender))
    }
}

extension RequestConvertible {
    /// The same request with the whole response as its value: `Chain(login.withResponse).then { response in … }`.
    public var withResponse: WithResponse<Self> { WithResponse(asked: self) }
}
