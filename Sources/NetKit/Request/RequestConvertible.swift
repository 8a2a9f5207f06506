/// What can be asked of an agent: a ``Request``, or a type of one's own that describes one.
public protocol RequestConvertible<Value>: Errand where Outcome == Response<Value> {
    /// What the answer becomes.
    associatedtype Value: Sendable

    /// The request, made anew each time it is started. What it throws ends the start before anything is sent.
    func request() async throws(NetError) -> Request<Value>
}

extension Request: RequestConvertible {
    /// Itself.
    public func request() -> Request { self }
}
