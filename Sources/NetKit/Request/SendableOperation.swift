/// Work that an agent can run: a request, an endpoint, a batch, a chain, or a graph of steps. An operation can contain
/// other operations.
///
///     let answer = try await agent.send(Batch(login, Chain(cities).then { … }))
///
/// An operation is a description of the work and can be run any number of times.
public protocol SendableOperation<Outcome>: Sendable {
    /// The outcome of the work.
    associatedtype Outcome: OperationOutput

    /// A number that identifies this operation in the error of a larger operation that contains it. 0, the default,
    /// means no number.
    var tag: Int { get }

    /// Runs the work and returns when no part of it is in flight.
    /// - Throws: an error of one of its parts, or ``NetError/Code/cancelled`` soon after the task is cancelled.
    func run(through sender: some RequestSender) async throws(NetError) -> Outcome
}

extension SendableOperation {
    /// No tag (0).
    public var tag: Int { 0 }
}

/// The outcome of work that an agent runs.
public protocol OperationOutput<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The value.
    var value: Value { get }
    /// Whether all responses of the work came from a cache.
    var isFromCache: Bool { get }
}

/// Sends requests: an ``Agent``, or a type that wraps one.
public protocol RequestSender: Sendable {
    /// Sends a request and decodes its response.
    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value>
}

extension Response: OperationOutput {
    /// Whether the response came from a cache.
    public var isFromCache: Bool { source != .network && source != .stub }
}

extension RequestConvertible {
    /// Creates the request and sends it.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(try await callRequest())
    }
}

extension Request {
    /// Sends the request.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(self)
    }
}

/// The outcome of ``RequestConvertible/withResponse``.
public struct WholeResponse<Body: Sendable>: OperationOutput {
    /// The response.
    public let value: Response<Body>
    /// Whether the response came from a cache.
    public var isFromCache: Bool { value.isFromCache }
}

/// A request whose value is the whole response.
private struct WithResponse<Asked: RequestConvertible>: SendableOperation {
    let request: Asked

    var tag: Int { request.tag }

    func run(through sender: some RequestSender) async throws(NetError) -> WholeResponse<Asked.Value> {
        WholeResponse(value: try await request.run(through: sender))
    }
}

extension RequestConvertible {
    /// The same request with the whole response as its value, for a chain's step that needs more than the decoded body:
    /// `Chain(login.withResponse).then { response in … }`.
    public var withResponse: some SendableOperation<WholeResponse<Value>> { WithResponse(request: self) }
}

/// A type that can create a request: an endpoint, or a ``Request`` itself.
public protocol RequestConvertible<Value>: SendableOperation where Outcome == Response<Value> {
    /// The type of the decoded body.
    associatedtype Value: Sendable

    /// Returns the request. It is called once for each call of the agent. An error thrown here ends the call before
    /// anything is sent.
    func request() async throws(NetError) -> Request<Value>
}

extension Request: RequestConvertible {
    /// Returns the request itself.
    public func request() -> Request { self }
}
