extension Agent {
    /// What a request is when this agent sends it: its URL joined to the base, the agent's own fields and parameters
    /// included, less those that ``Request/cacheKeyParameters`` leaves out.
    ///
    /// Throws what ``send(_:)-(Request<Value>)`` would say of the URL, ``NetError/Code/unsupported`` for a body that is
    /// put together or read while it is sent: nobody knows it before; and ``NetError/Code/usage`` where somebody has to
    /// be asked at each start: see ``cacheKey(forStarting:headers:scope:)``.
    /// - Parameters:
    ///   - request: as it would be sent.
    ///   - names: the names of the fields that choose the response; others do not count.
    ///   - scope: whose response it is, such as a user's number. Empty means anybody's.
    public func cacheKey(
        for request: Request<some Sendable>, headers names: [String] = ["Accept", "Accept-Language", "Content-Type"],
        scope: String = ""
    ) throws(NetError) -> CacheKey {
        try preparedNow(Call(request.decoded(by: .bytes))).cacheKey(headers: names, scope: scope)
    }

    /// What something is that is started now: its request is made, and sources of parameters and fields are asked.
    ///
    /// Throws as ``cacheKey(for:headers:scope:)``, and what they throw.
    public func cacheKey(
        forStarting endpoint: some RequestConvertible,
        headers names: [String] = ["Accept", "Accept-Language", "Content-Type"], scope: String = ""
    ) async throws(NetError) -> CacheKey {
        let call = Call(try await endpoint.request().decoded(by: .bytes))
        return try await prepared(call).cacheKey(headers: names, scope: scope)
    }
}
