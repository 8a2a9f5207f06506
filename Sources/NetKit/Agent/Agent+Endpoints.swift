extension Agent {
    /// Sends the request that something describes, made now, and decodes its response.
    ///
    ///     let cities = try await agent.send(HotCities(count: 10)).value
    ///
    /// Throws as for a ``Request``, and what making it throws: then nothing is sent.
    public func send<Described: RequestConvertible>(
        _ endpoint: Described
    ) async throws(NetError) -> Response<Described.Value> {
        var request = try await endpoint.request()
        if let described = endpoint as? any Startable, !(endpoint is Request<Described.Value>) {
            request.takeCompany(of: described)
        }
        return try await send(grouped(request, as: Described.self))
    }

    /// Streams the response to the request that something describes; see `stream(_:)` of a ``Request``.
    public func stream(_ endpoint: some RequestConvertible) async throws(NetError) -> ResponseStream {
        try await stream(try await grouped(endpoint))
    }

    /// Saves the response to the request that something describes; see `save(_:to:)` of a ``Request``.
    public func save(
        _ endpoint: some RequestConvertible, to path: String
    ) async throws(NetError) -> Response<SavedFile> {
        try await save(try await grouped(endpoint), to: path)
    }

    private func grouped<Described: RequestConvertible>(
        _ endpoint: Described
    ) async throws(NetError) -> Request<Described.Value> {
        grouped(try await endpoint.request(), as: Described.self)
    }

    /// The request, and where somebody may ask for it the type that it came from.
    private func grouped<Value>(_ request: Request<Value>, as type: any RequestConvertible.Type) -> Request<Value> {
        guard !isBare(request), !(type is Request<Value>.Type) else { return request }
        var request = request
        request.group = ObjectIdentifier(type)
        return request
    }
}
