/// Sends requests with one method. Call it like a function; see ``Agent/get``.
///
/// It accepts the statuses from 200 to 299, and decodes the body by the type of the value (``Decoding/automatic``): JSON,
/// except for text and bytes.
///
/// - The path is relative to ``Agent/Configuration/baseURL``, or a URL.
/// - Parameters go into the URL for GET and DELETE. For the other methods they become a form in the body. If `body` is
///   ``Body/multipart(_:)``, they become the first parts of that form.
/// - `timeout` is ``Request/timeout``, and `progress` reports sent and received bytes.
/// - A call without a type returns a JSON tree.
/// - If the type is a JSON tree or an Optional, the value of an empty body (such as that of a 204) is `nil`.
public struct Verb: Sendable {
    let agent: Agent
    let method: Method

    /// Sends the request and decodes the response.
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: Parameters? = nil,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(path, parameters, headers, body, timeout, progress, .automatic)
    }

    /// Sends the request and returns the body as a JSON tree.
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: Parameters? = nil,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(path, parameters, headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with a dictionary literal with variables as its parameters.
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: ParameterList,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with a dictionary literal with variables as its parameters. Returns a JSON tree.
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: ParameterList,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with the fields of an encodable value, such as a structure or a dictionary.
    @_disfavoredOverload
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: some Encodable,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with the fields of an encodable value, such as a structure or a dictionary.
    @_disfavoredOverload
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: some Encodable,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with a dictionary of encodable values of several types.
    @_disfavoredOverload
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: some NamedValues,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    /// Sends the request with a dictionary of encodable values of several types. Returns a JSON tree.
    @_disfavoredOverload
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: some NamedValues,
        headers: Headers = [:], body: Body? = nil, timeout: Duration? = nil, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(path, Parameters(parameters), headers, body, timeout, progress, .automatic)
    }

    private func send<Value>(
        _ path: some URLConvertible, _ parameters: Parameters?, _ headers: Headers, _ body: Body?,
        _ timeout: Duration?, _ progress: Agent.ProgressHandler?, _ decoding: Decoding<Value>
    ) async throws(NetError) -> Response<Value> {
        var request = Request<Value>(
            path, method: method, parameters: parameters, headers: headers, body: body, decoding: decoding)
        if let timeout {
            request.timeout = timeout
        }
        if let progress {
            request.progress = progress
        }
        return try await agent.send(request)
    }
}

/// One-line calls; see ``Verb``.
///
///     let cities = try await agent.get("cities", as: [City].self, parameters: ["count": count]).value
///     let name = try await agent.get("cities/1").value?["name"]?.string
///     try await agent.delete("cities/1")
extension Agent {
    /// A handler that receives the progress of a transfer; see ``Request/progress``.
    public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

    /// Sends a GET request.
    public var get: Verb { Verb(agent: self, method: .get) }

    /// Sends a POST request.
    public var post: Verb { Verb(agent: self, method: .post) }

    /// Sends a PUT request.
    public var put: Verb { Verb(agent: self, method: .put) }

    /// Sends a PATCH request.
    public var patch: Verb { Verb(agent: self, method: .patch) }

    /// Sends a DELETE request.
    public var delete: Verb { Verb(agent: self, method: .delete) }

    /// Sends a HEAD request: the response has no body and no value.
    @discardableResult
    public func head(
        _ path: some URLConvertible, parameters: Parameters? = nil, headers: Headers = [:],
        timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Void> {
        var request = Request<Void>(path, method: .head, parameters: parameters, headers: headers)
        if let timeout {
            request.timeout = timeout
        }
        request.progress = progress
        return try await send(request)
    }

    /// Sends a HEAD request with a dictionary literal with variables as its parameters.
    @discardableResult
    public func head(
        _ path: some URLConvertible, parameters: ParameterList, headers: Headers = [:],
        timeout: Duration? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Void> {
        try await head(path, parameters: Parameters(parameters), headers: headers, timeout: timeout, progress: progress)
    }
}
