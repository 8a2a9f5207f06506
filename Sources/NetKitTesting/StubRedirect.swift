import NetKit

/// The redirect logic, the same as the engine's. Pure.
enum StubRedirect {
    /// Returns the next request, or `nil` if this reply is the response.
    static func next(
        after request: Request<Bytes>, _ reply: StubReply, followed: Int
    ) throws(NetError) -> Request<Bytes>? {
        let head = ResponseHead(status: reply.status, headers: reply.headers, url: request.url)
        return try RedirectStep.next(after: request, head, followed: followed)
    }
}
