/// What carries a request and brings the response: the engine, a stub, or one of your own.
public protocol Transport: Sendable {
    /// Sends a request whose URL is absolute and whose limits and redirect policy are set; without a trust policy of
    /// its own, the one that the transport was made with counts.
    ///
    /// When the task is cancelled it throws ``NetError/Code/cancelled``, soon. Any status is a response.
    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes>

    /// Takes no more requests, and returns when the last one has ended.
    func shutdown() async
}
