extension Agent {
    /// Returns the cache key of a request as this agent would send it. The URL is joined to the base, and the agent's
    /// fields and parameters are included. Parameters that ``Request/cacheKeyParameters`` excludes are left out.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - names: the names of the fields that select the response; other fields are ignored.
    ///   - scope: the owner of the response, such as a user's number. If empty, the response is shared.
    /// - Throws: an error for an invalid URL, as ``send(_:)-(Request<Value>)``. ``NetError/Code/unsupported`` for a
    ///   body that is put together or read while it is sent: its bytes are not known before. ``NetError/Code/usage`` if
    ///   a source has to be called at each start: see ``cacheKey(forStarting:headers:scope:)``.
    public func cacheKey(
        for request: Request<some Sendable>, headers names: [String] = ["Accept", "Accept-Language", "Content-Type"],
        scope: String = ""
    ) throws(NetError) -> CacheKey {
        try preparedNow(Call(request.decoded(by: .bytes))).cacheKey(headers: names, scope: scope)
    }

    /// Returns the cache key of an endpoint that is started now: creates its request and calls the sources of
    /// parameters and fields.
    ///
    /// Throws the same errors as ``cacheKey(for:headers:scope:)``, and those of the sources.
    public func cacheKey(
        forStarting endpoint: some RequestConvertible,
        headers names: [String] = ["Accept", "Accept-Language", "Content-Type"], scope: String = ""
    ) async throws(NetError) -> CacheKey {
        let call = Call(try await endpoint.request().decoded(by: .bytes))
        return try await prepared(call).cacheKey(headers: names, scope: scope)
    }
}
