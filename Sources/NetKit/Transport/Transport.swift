/// Sends requests and returns responses: the engine, a stub, or a type of your own.
public protocol Transport: Sendable {
    /// Sends a request with an absolute URL, limits and a redirect policy. Without a trust policy of its own, that of
    /// the transport applies.
    ///
    /// Any status is a response. Throws ``NetError/Code/cancelled`` soon after the task is cancelled.
    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes>

    /// Does the same as ``send(_:)``, but returns when the head has arrived; the body is read from the stream.
    ///
    /// The default implementation waits for the whole response and returns it in one piece.
    func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream

    /// Accepts no more requests, and returns when the last one has ended.
    func shutdown() async
}

extension Transport {
    /// Returns the whole response as a stream of one piece.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        ResponseStream(try await send(request))
    }
}
