extension Agent {
    /// Uploads a file, which is read while it is sent. If the length of the file changes meanwhile, the call fails with
    /// ``NetError/Code/bodyLength``.
    ///
    ///     try await agent.upload(file: "/tmp/a.jpg", to: "photos") { print($0.fractionCompleted ?? 0) }
    ///
    /// - Parameters:
    ///   - file: the path of the file: a `String` or a `URL`.
    ///   - path: a path relative to ``Configuration/baseURL``, or a URL.
    ///   - type: the type of the value; a JSON tree by default, as for ``get``.
    ///   - method: the method.
    ///   - contentType: the media type of the file.
    ///   - headers: the header fields.
    ///   - credentials: the credentials.
    ///   - timeout: the total time; see ``Request/timeout``.
    ///   - redirects: what happens to redirects.
    ///   - retries: whether and how the request is sent again after a temporary failure; see ``Request/retries``.
    ///   - acceptedStatuses: the statuses that are not errors; see ``Request/acceptedStatuses``.
    ///   - progress: receives the progress; see ``Request/progress``.
    @discardableResult
    public func upload<Value: Decodable & Sendable>(
        file: some URLConvertible, to path: some URLConvertible, as type: Value.Type = JSONValue?.self,
        method: Method = .post, contentType: String? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, timeout: Duration? = nil, redirects: RedirectPolicy = .inherited,
        retries: RetryPolicy = .inherited, acceptedStatuses: StatusSet = .automatic, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let options = CallOptions(
            headers, credentials, .inherited, timeout, redirects, retries, acceptedStatuses, progress)
        return try await upload(.file(file, contentType: contentType), to: path, method, options)
    }

    /// Uploads ``Bytes``, `Data` or `[UInt8]`. Otherwise this function works like the one for a file.
    ///
    ///     try await agent.upload(data, to: "photos/1", method: .put) { print($0.sent, $0.total ?? 0) }
    @discardableResult
    public func upload<Value: Decodable & Sendable>(
        _ bytes: some BytesConvertible, to path: some URLConvertible, as type: Value.Type = JSONValue?.self,
        method: Method = .post, contentType: String? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, timeout: Duration? = nil, redirects: RedirectPolicy = .inherited,
        retries: RetryPolicy = .inherited, acceptedStatuses: StatusSet = .automatic, progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<Value> {
        let options = CallOptions(
            headers, credentials, .inherited, timeout, redirects, retries, acceptedStatuses, progress)
        return try await upload(.data(bytes, contentType: contentType), to: path, method, options)
    }

    private func upload<Value: Decodable & Sendable>(
        _ body: Body, to path: some URLConvertible, _ method: Method, _ options: CallOptions
    ) async throws(NetError) -> Response<Value> {
        let decoding = Decoding.treeIfJSON as? Decoding<Value> ?? .automatic
        return try await send(CallContent(body: body).request(path, method, options, decoding))
    }
}
