extension Agent {
    /// Creates the request of an endpoint, sends it, and decodes its response.
    ///
    ///     let cities = try await agent.send(HotCities(count: 10)).value
    ///
    /// Throws the same errors as for a ``Request``. An error of creating the request is thrown before anything is sent.
    public func send<Described: RequestConvertible>(
        _ endpoint: Described
    ) async throws(NetError) -> Response<Described.Value> {
        var request = try await endpoint.request()
        if let described = endpoint as? any Startable, !(endpoint is Request<Described.Value>) {
            request.takeCompany(of: described)
        }
        return try await send(grouped(request, as: Described.self))
    }

    /// Streams the response to the request of an endpoint; see `stream(_:)` for a ``Request``.
    public func stream(_ endpoint: some RequestConvertible) async throws(NetError) -> ResponseStream {
        try await stream(try await grouped(endpoint))
    }

    /// Saves the response to the request of an endpoint; see `save(_:to:)` for a ``Request``.
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

    /// Returns the request, with the type that created it if anything may need that type.
    private func grouped<Value>(_ request: Request<Value>, as type: any RequestConvertible.Type) -> Request<Value> {
        guard !isBare(request), !(type is Request<Value>.Type) else { return request }
        var request = request
        request.group = ObjectIdentifier(type)
        return request
    }
}
