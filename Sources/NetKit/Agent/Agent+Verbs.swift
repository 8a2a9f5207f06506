/// What the one-line calls have in common.
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

/// Calls of one line. Each is a ``Request`` with a method, sent; statuses from 200 to 299 are answers, and the body is
/// JSON.
///
///     let cities = try await agent.get("cities", as: [City].self, parameters: ["count": 10]).value
///     let name = try await agent.get("cities/1").value?["name"]?.string
///     try await agent.delete("cities/1")
///
/// The path is relative to ``Configuration/baseURL``, or a URL. Parameters go into the URL for GET, HEAD and DELETE, and
/// become a form for the others; `progress` hears both ways. An empty body, such as that of a 204, is nil for an Optional
/// value, and for the tree that one gets without a type.
extension Agent {
    /// Hears how far a transfer is; see ``Request/progress``.
    public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

    /// GET.
    public func get<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let asked = Asked(method: .get, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.json))
    }

    /// GET, for a tree.
    @discardableResult
    public func get(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        let asked = Asked(method: .get, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.tree))
    }

    /// HEAD: there is no body, and no value.
    @discardableResult
    public func head(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Void> {
        let asked = Asked(method: .head, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.nothing))
    }

    /// POST. With a ``Body/multipart(_:)`` the parameters are the form's first parts.
    public func post<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.post, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// POST, for a tree.
    @discardableResult
    public func post(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.post, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// PUT.
    public func put<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.put, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// PUT, for a tree.
    @discardableResult
    public func put(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.put, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// PATCH.
    public func patch<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        try await send(
            call(.patch, path, as: type, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// PATCH, for a tree.
    @discardableResult
    public func patch(
        _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<JSONValue?> {
        try await send(call(.patch, path, parameters: parameters, headers: headers, body: body, progress: progress))
    }

    /// DELETE.
    public func delete<Value: Decodable & Sendable>(
        _ path: String, as type: Value.Type = Value.self, parameters: Parameters? = nil, headers: Headers = [:],
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let asked = Asked(method: .delete, path: path, parameters: parameters, headers: headers, progress: progress)
        return try await send(asked.request(.json))
    }

    /// DELETE, for a tree.
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
    /// A call by any method, made and not started: `agent.prepare(.patch, "cities/1", as: City.self).start()`.
    public func prepare<Value: Decodable & Sendable>(
        _ method: Method, _ path: String, as type: Value.Type, parameters: Parameters? = nil, headers: Headers = [:],
        body: Body? = nil, on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: PreparedCall<Value>.Completion? = nil
    ) -> PreparedCall<Value> {
        let asked = Asked(method: method, path: path, parameters: parameters, headers: headers, body: body)
        return prepare(asked.request(.json), on: delivery, options: options, completion: completion)
    }

    /// A call by any method, for a tree, made and not started.
    public func prepare(
        _ method: Method, _ path: String, parameters: Parameters? = nil, headers: Headers = [:], body: Body? = nil,
        on delivery: Delivery = .main, options: StartOptions = .init(),
        completion: PreparedCall<JSONValue?>.Completion? = nil
    ) -> PreparedCall<JSONValue?> {
        let asked = Asked(method: method, path: path, parameters: parameters, headers: headers, body: body)
        return prepare(asked.request(.tree), on: delivery, options: options, completion: completion)
    }

    /// Cancels all starts by this method that ask for this path, which may be a URL; returns how many it was in time
    /// for. Queries do not count. See ``cancel(path:method:)`` for any method.
    @discardableResult
    public func cancelAll(method: Method, path: String) -> Int {
        cancel(path: path, method: method)
    }
}
