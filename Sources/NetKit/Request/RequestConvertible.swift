/// A ``Request``, or a type that describes one: an endpoint.
public protocol RequestConvertible<Value>: Errand where Outcome == Response<Value> {
    /// The type of the decoded body.
    associatedtype Value: Sendable

    /// Returns a new request for each call. An error thrown here ends the call before anything is sent.
    func request() async throws(NetError) -> Request<Value>
}

extension Request: RequestConvertible {
    /// Returns the request itself.
    public func request() -> Request { self }
}
