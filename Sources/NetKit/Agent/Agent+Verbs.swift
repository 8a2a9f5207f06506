/// The options that the one-line calls share.
private struct Asked {
    let method: Method
    let path: String
    var parameters: Parameters?
    var headers: Headers
    var body: Body?
    var progress: (@Sendable (TransferProgress) -> Void)?

    func request<Value>(_ decoding: Decoding<Value>) -> Request<Value> {
        var request = Request<Value>(
            path, method: method, parameters: parameters, headers: headers, body: body, decoding: decoding)
        if let progress {
            request.progress = progress
        }
        return request
    }
}

/// Calls in one line. Each sends a ``Request`` with its method, accepts the statuses from 200 to 299, and decodes a
/// JSON body.
///
///     let cities = try await agent.get("cities", as: [City].self, parameters: ["count": 10]).value
///     let name = try await agent.get("cities/1").value?["name"]?.string
///     try await agent.delete("cities/1")
///
/// The path is relative to ``Configuration/baseURL``, or a URL. Parameters go into the URL for GET, HEAD and DELETE,
/// and become a form for the other methods. `progress` reports both directions. Calls without a type return a JSON
/// tree. An empty body, such as that of a 204, is `nil` for a tree and for an Optional value.
extension Agent {
    /// A handler that receives the progress of a transfer; see ``Request/progress``.
    public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

    /// Sends a GET request and decodes the response.
    public func get<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let asked = Asked(method: .get, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.json))
    }

    /// Sends a GET request and returns the body as a JSON tree.
    @discardableResult
    public func get(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let asked = Asked(method: .get, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.tree))
    }

    /// Sends a HEAD request: the response has no body and no value.
    @discardableResult
    public func head(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Void> {
        let asked = Asked(method: .head, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.nothing))
    }

    /// Sends a POST request. With a ``Body/multipart(_:)`` the parameters are the first parts of the form.
    public func post<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.post, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a POST request and returns the body as a JSON tree.
    @discardableResult
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.post, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a PUT request and decodes the response.
    public func put<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.put, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a PUT request and returns the body as a JSON tree.
    @discardableResult
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.put, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a PATCH request and decodes the response.
    public func patch<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.patch, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a PATCH request and returns the body as a JSON tree.
    @discardableResult
    public func patch(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.patch, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// Sends a DELETE request and decodes the response.
    public func delete<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let asked = Asked(method: .delete, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.json))
    }

    /// Sends a DELETE request and returns the body as a JSON tree.
    @discardableResult
    public func delete(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let asked = Asked(method: .delete, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.tree))
    }

    private func call<Value: Decodable & Sendable>(
        _ method: Method, _ path: String, as type: Value.Type, parameters: Parameters?, headers: Headers, body: Body?,
        progress: ProgressHandler?
    ) -> Request<Value> {
        Asked(method: method, path: path, parameters: parameters, headers: headers, body: body, progress: progress)
            .request(.json)
    }

    private func call(
        _ method: Method, _ path: String, parameters: Parameters?, headers: Headers, body: Body?,
        progress: ProgressHandler?
    ) -> Request<JSONValue?> {
        Asked(method: method, path: path, parameters: parameters, headers: headers, body: body, progress: progress)
            .request(.tree)
    }
}

extension Agent {
    /// Creates a call with any method and does not start it: `agent.prepare(.patch, "cities/1", as:
    /// City.self).start()`.
    public func prepare<Value: Decodable & Sendable>(
        _ method: Method, _ path: String, as type: Value.Type, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: PreparedCall<Value>.Completion? = nil
    ) -> PreparedCall<Value> {
        let asked = Asked(method: method, path: path, parameters: parameters, headers: headers, body: body)
        return prepare(asked.request(.json), on: delivery, options: options, completion: completion)
    }

    /// Creates a call with any method for a JSON tree, and does not start it.
    public func prepare(
        _ method: Method, _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: PreparedCall<JSONValue?>.Completion? = nil
    ) -> PreparedCall<JSONValue?> {
        let asked = Asked(method: method, path: path, parameters: parameters, headers: headers, body: body)
        return prepare(asked.request(.tree), on: delivery, options: options, completion: completion)
    }

    /// Cancels all started requests with this method and path, which may be a URL. Queries are ignored.
    ///
    /// See ``cancel(path:method:)`` for any method.
    /// - Returns: the number of requests that were cancelled before they ended.
    @discardableResult
    public func cancelAll(method: Method, path: String) -> Int {
        cancel(path: path, method: method)
    }
}
