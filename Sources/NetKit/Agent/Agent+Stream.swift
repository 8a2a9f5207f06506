extension Agent {
    /// Sends a request and returns the final response head with a stream of its body. Memory use is bounded.
    ///
    ///     for try await chunk in try await agent.stream(Request<Bytes>("large")) { … }
    ///
    /// The checks of the request apply: a status that it does not accept throws an error with the response and its
    /// body, a content type one with the head, and a JSON body that does not meet its expectation ends the stream with
    /// an error. A `Request<Bytes>` accepts every status. A request without limits gets ``Configuration/streamLimits``.
    ///
    /// A stream has no decoded value. The outcome for listeners is a `Response<Void>` at the end of the body, or the
    /// error that ends the stream.
    public func stream(_ call: some RequestConvertible) async throws(NetError) -> ResponseStream {
        try await stream(try await call.callRequest { !self.isBare($0) }, isChecked: true)
    }

    /// Sends a request and returns its response head with a stream of its body. A status that is not accepted
    /// throws an error. The parameters are those of ``Verb``.
    ///
    ///     for try await line in try await agent.stream("log").lines { … }
    ///     let stream = try await agent.stream("chat", method: .post, json: ["prompt": text])
    ///     for try await token in stream.lines(as: Token.self) { … }
    ///
    /// The call gets the limits of ``Configuration/streamLimits``, except for `timeout`.
    public func stream(
        _ path: some URLConvertible, method: Method = .get, parameters: ParameterList? = nil,
        query: ParameterList? = nil, json: ParameterList? = nil, form: ParameterList? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: ProgressHandler? = nil
    ) async throws(NetError) -> ResponseStream {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await stream(content.request(path, method, options, .nothing))
    }

    /// Streams the response to a request with trees of parameters, or literals with nested literals of several types.
    @_disfavoredOverload
    public func stream(
        _ path: some URLConvertible, method: Method = .get, parameters: Parameters? = nil,
        query: Parameters? = nil, json: Parameters? = nil, form: Parameters? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: ProgressHandler? = nil
    ) async throws(NetError) -> ResponseStream {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await stream(content.request(path, method, options, .nothing))
    }

    /// Streams the response to a request with the fields of encodable values, such as structures or dictionaries.
    @_disfavoredOverload
    public func stream(
        _ path: some URLConvertible, method: Method = .get, parameters: (any Encodable)? = nil,
        query: (any Encodable)? = nil, json: (any Encodable)? = nil, form: (any Encodable)? = nil,
        multipart: MultipartBody? = nil, body: Body? = nil, headers: Headers = [:],
        credentials: Credentials = .inherited, caching: CacheRules = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited,
        acceptedStatuses: StatusSet = .automatic, progress: ProgressHandler? = nil
    ) async throws(NetError) -> ResponseStream {
        let content = try CallContent(parameters, query, json, form, multipart, body)
        let options = CallOptions(
            headers, credentials, caching, timeout, redirects, retries, acceptedStatuses, progress)
        return try await stream(content.request(path, method, options, .nothing))
    }

    /// Streams the response to a request.
    ///
    /// - Parameter isChecked: whether the request's checks of the head apply. If false, the caller checks the head.
    func stream(_ request: Request<some Sendable>, isChecked: Bool) async throws(NetError) -> ResponseStream {
        try enter(request)
        do throws(NetError) {
            let stream =
                isBare(request)
                ? try await bareStream(request, isChecked: isChecked)
                : try await streamThroughChain(request, isChecked: isChecked)
            var counted = stream.replaced(by: CountedChunks(stream, in: inFlight.group))
            counted.json = json(of: request)
            return counted
        } catch {
            inFlight.group.leave()
            throw error
        }
    }

    private func bareStream(
        _ request: Request<some Sendable>, isChecked: Bool
    ) async throws(NetError) -> ResponseStream {
        let request = try completedOrEndingProgress(request, limits: streamLimits)
        do throws(NetError) {
            var stream = try await callRunner.stream(request)
            if isChecked {
                stream = try await request.checked(stream)
            }
            if control == nil {
                request.progress?(.over)
            }
            return stream
        } catch {
            request.progress?(.over)
            throw error
        }
    }

    static func checkedPath(_ path: String) throws(NetError) -> String {
        if path.isEmpty {
            throw NetError(.usage, "the destination path of the download is empty")
        }
        return path
    }
}

extension Request {
    /// Returns the stream if the request accepts its head. The transport checks the body.
    ///
    /// If the status is refused, the error has the response with its body. If the type is refused, it has the head.
    func checked(_ stream: ResponseStream) async throws(NetError) -> ResponseStream {
        do throws(NetError) {
            try checkHead(stream.headOnly, types: nil)
            return stream
        } catch {
            guard error.code == .status else { throw error.attaching(headOf: stream) }
            // The body often explains a status. If it cannot be read, the error is the same.
            let whole: Response<Bytes>
            do throws(NetError) {
                whole = try await stream.whole(upTo: limits.maxBodyBytes ?? Self.maxRefusedBytes)
            } catch let other where other.code == .cancelled {
                throw other
            } catch {
                whole = stream.headOnly
            }
            throw error.attaching(whole)
        }
    }

    /// The largest body of a refused response that is read for its error, if the request has no limit.
    private static var maxRefusedBytes: Int { 1 << 20 }
}
