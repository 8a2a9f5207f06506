/// What carries a request and brings the response: the engine, a stub, or one of your own.
public protocol Transport: Sendable {
    /// Sends a request whose URL is absolute and whose limits and redirect policy are set; without a trust policy of
    /// its own, the one that the transport was made with counts.
    ///
    /// When the task is cancelled it throws ``NetError/Code/cancelled``, soon. Any status is a response.
    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes>

    /// As ``send(_:)``, but returns when the head is there; the body is read from the stream.
    ///
    /// Unless a transport says otherwise, the whole response is awaited and then given in one piece.
    func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream

    /// Takes no more requests, and returns when the last one has ended.
    func shutdown() async
}

extension Transport {
    /// The whole response, as a stream of one piece.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        ResponseStream(try await send(request))
    }
}
