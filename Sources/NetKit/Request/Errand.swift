/// What can be asked of an agent as a whole: a request, what describes one, a batch, a chain, a graph of steps. Each can
/// be part of another.
///
///     let answer = try await agent.send(Batch(login, Chain(cities).then { … }))
///
/// A value that says what to do, and may be run as often as one likes.
public protocol Errand<Outcome>: Sendable {
    /// What comes of it.
    associatedtype Outcome: ErrandOutcome

    /// A number of the caller's, by which a failure in something larger tells it from others; 0, which says nothing,
    /// unless it says otherwise.
    var tag: Int { get }

    /// Does it all, and returns when nothing of it is under way any more.
    ///
    /// Throws ``NetError/Code/cancelled`` soon after the task is cancelled.
    func run(through sender: some RequestSender) async throws(NetError) -> Outcome
}

extension Errand {
    /// 0.
    public var tag: Int { 0 }
}

/// What comes of an errand.
public protocol ErrandOutcome<Value>: Sendable {
    /// What the caller is after.
    associatedtype Value: Sendable

    /// What the caller is after.
    var value: Value { get }
    /// Whether all of it came from a cache.
    var isFromCache: Bool { get }
}

/// What sends a request: an ``Agent``, or what stands in front of one.
public protocol RequestSender: Sendable {
    /// Sends a request and decodes its response.
    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value>
}

extension Response: ErrandOutcome {
    /// Whether it came from a cache.
    public var isFromCache: Bool { source != .network && source != .stub }
}

extension RequestConvertible {
    /// Sends the request that it makes.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(try await groupedRequest())
    }
}

extension Request {
    /// Sends it.
    public func run(through sender: some RequestSender) async throws(NetError) -> Response<Value> {
        try await sender.send(self)
    }
}

/// What describes a request, with the whole response for its value: where a step wants more than the body.
public struct WithResponse<Asked: RequestConvertible>: Errand {
    /// What comes of it.
    public struct Outcome: ErrandOutcome {
        /// The response.
        public let value: Response<Asked.Value>
        /// Whether it came from a cache.
        public var isFromCache: Bool { value.isFromCache }
    }

    let asked: Asked

    /// That of the request.
    public var tag: Int { asked.tag }

    /// Sends the request.
    public func run(through sender: some RequestSender) async throws(NetError) -> Outcome {
        Outcome(value: try await asked.run(through: sender))
    }
}

extension RequestConvertible {
    /// The same errand, whose value is the whole response: `Chain(login.withResponse).then { response in … }`.
    public var withResponse: WithResponse<Self> { WithResponse(asked: self) }
}
