import NetKit

/// What becomes of a redirect: a pure decision, as the engine's.
enum StubRedirect {
    /// The next request, or nil when this reply is the response.
    static func next(
        after request: Request<Bytes>, _ reply: StubReply, followed: Int
    ) throws(NetError) -> Request<Bytes>? {
        let head = ResponseHead(status: reply.status, headers: reply.headers, url: request.url)
        return try RedirectStep.next(after: request, head, followed: followed)
    }
}
