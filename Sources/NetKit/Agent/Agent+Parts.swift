extension Agent {
    /// Sends a request and reads its multipart body part by part, as it arrives (RFC 2046, 5.1).
    ///
    ///     for try await part in try await agent.parts(Request<Bytes>("camera")) { … }
    ///
    /// Another status than the request accepts (where it accepts all: than 200 to 299) throws
    /// ``NetError/Code/unacceptableStatus``, another type than a multipart one ``NetError/Code/unacceptableType``, and one
    /// without a boundary ``NetError/Code/badResponse``; all tell the head, and the body is not read.
    /// - Parameters:
    ///   - request: what to ask.
    ///   - limits: how much the parts may be.
    ///   - decide: asked for each part when its fields are there; nil allows all.
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
