/// Sends requests with one method. Call it like a function; see ``Agent/get``.
///
/// It accepts the statuses of the agent, by default those from 200 to 299. It decodes the body by the type of the value
/// (``Decoding/automatic``): JSON, except for text and bytes.
///
/// - The path is relative to ``Agent/Configuration/baseURL``, or a URL.
/// - `query`, `json` and `form` accept a dictionary literal, which may contain variables, and any `Encodable` value.
/// - `query` goes into the URL, whatever the method is.
/// - `parameters` become the query for GET, HEAD and DELETE, and a form for the other methods.
/// - `json`, `form`, `multipart` and `body` are the body; only one of them can be set. A `form` beside a `multipart`
///   body becomes its first parts.
/// - `timeout` is ``Request/timeout``, and `progress` reports sent and received bytes.
/// - `retries` is ``Request/retries``, such as `.never` or `2`. `acceptedStatuses` is ``Request/acceptedStatuses``.
/// - With `redirects: .return`, a redirect is the response: the statuses from 300 to 399 are accepted too, unless
///   `acceptedStatuses` is set.
/// - A call without a type returns a JSON tree. It is `nil` if the body is empty, or if its Content-Type is not JSON.
///   ``Response/text`` and ``Response/bytes`` have the body.
/// - If the type is an Optional, the value of an empty body (such as that of a 204) is `nil`.
public struct Verb: Sendable {
    let agent: Agent
    let method: Method

    /// Sends the request and decodes the response. A literal keeps the order of its values.
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: ParameterList? = nil,
        query: ParameterList? = nil, json: ParameterList? = nil, form: ParameterList? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .automatic)
    }

    /// Sends the request and returns the body as a JSON tree.
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: ParameterList? = nil,
        query: ParameterList? = nil, json: ParameterList? = nil, form: ParameterList? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .treeIfJSON)
    }

    /// Sends the request with trees of parameters, or literals with nested literals of several types.
    @_disfavoredOverload
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: Parameters? = nil,
        query: Parameters? = nil, json: Parameters? = nil, form: Parameters? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .automatic)
    }

    /// Sends the request with trees of parameters, and returns the body as a JSON tree.
    @_disfavoredOverload
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: Parameters? = nil,
        query: Parameters? = nil, json: Parameters? = nil, form: Parameters? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .treeIfJSON)
    }

    /// Sends the request with the fields of encodable values, such as structures or dictionaries.
    @_disfavoredOverload
    public func callAsFunction<Value: Decodable & Sendable>(
        _ path: some URLConvertible, as type: Value.Type = Value.self, parameters: (any Encodable)? = nil,
        query: (any Encodable)? = nil, json: (any Encodable)? = nil, form: (any Encodable)? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .automatic)
    }

    /// Sends the request with the fields of encodable values, and returns the body as a JSON tree.
    @_disfavoredOverload
    @discardableResult
    public func callAsFunction(
        _ path: some URLConvertible, parameters: (any Encodable)? = nil,
        query: (any Encodable)? = nil, json: (any Encodable)? = nil, form: (any Encodable)? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: Agent.ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await send(path, content, options, .treeIfJSON)
    }

    private func send<Value>(
        _ path: some URLConvertible, _ content: CallContent, _ options: CallOptions, _ decoding: Decoding<Value>
    ) async throws(NetError) -> Response<Value> {
        var request = content.request(path, method, options, decoding)
        if decoding.types == nil, Value.self == JSONValue?.self {
            request.content.wantsJSON = true
        }
        return try await agent.send(request)
    }
}

extension Agent {
    /// A handler that receives the progress of a transfer; see ``Request/progress``.
    public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

    /// Sends a GET request.
    ///
    ///     let cities = try await agent.get("cities", as: [City].self, query: ["count": count]).value
    ///     let name = try await agent.get("cities/1").value?["name"]?.string
    public var get: Verb { Verb(agent: self, method: .get) }

    /// Sends a HEAD request. The response has no body.
    public var head: Verb { Verb(agent: self, method: .head) }

    /// Sends a POST request: `try await agent.post("cities", json: city)`.
    public var post: Verb { Verb(agent: self, method: .post) }

    /// Sends a PUT request.
    public var put: Verb { Verb(agent: self, method: .put) }

    /// Sends a PATCH request.
    public var patch: Verb { Verb(agent: self, method: .patch) }

    /// Sends a DELETE request.
    public var delete: Verb { Verb(agent: self, method: .delete) }

    /// Sends an OPTIONS request.
    public var options: Verb { Verb(agent: self, method: .options) }
}
