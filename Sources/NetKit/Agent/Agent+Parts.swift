extension Agent {
    /// Sends a request and reads its multipart body part by part, while it arrives (RFC 2046, 5.1).
    ///
    ///     for try await part in try await agent.parts(Request<Bytes>("camera")) { … }
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - limits: the limits of the parts.
    ///   - decide: called for the head of each part; `nil` allows all parts.
    /// - Throws: ``NetError/Code/unacceptableStatus`` for a status that the request does not accept; if it accepts all,
    ///   for a status other than 200 to 299. ``NetError/Code/unacceptableType`` for a type that is not multipart, and
    ///   ``NetError/Code/badResponse`` for one without a boundary. These errors contain the head; the body is not read.
    public func parts(
        _ request: Request<some Sendable>, limits: PartLimits = PartLimits(),
        deciding decide: ResponseParts.Decide? = nil
    ) async throws(NetError) -> ResponseParts {
        var request = request
        request.acceptedStatuses = request.acceptedStatuses ?? 200..<300
        let stream = try await stream(request)
        try request.checkHead(of: stream, types: MediaTypes.multipart)
        do throws(NetError) {
            return try stream.parts(limits: limits, deciding: decide)
        } catch {
            throw error.telling(Response(status: stream.status, headers: stream.headers, metrics: stream.metrics))
        }
    }
}
