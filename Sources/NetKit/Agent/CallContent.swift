/// The parameters and the body of a one-line call.
struct CallContent {
    private let parameters: Parameters?
    private let query: Parameters?
    private let isForm: Bool
    private let body: Body?

    init(body: Body) {
        (parameters, query, isForm) = (nil, nil, false)
        self.body = body
    }

    /// - Throws: ``NetError/Code/usage`` if the arguments exclude each other.
    private init(
        _ parameters: Parameters?, _ query: Parameters?, _ json: Body?, _ form: Parameters?,
        _ multipart: MultipartBody?, _ body: Body?
    ) throws(NetError) {
        if parameters != nil, form != nil {
            throw NetError(.usage, "parameters cannot be combined with a form")
        }
        var bodies = [json, body].compactMap { $0 }
        var form = form
        if let multipart {
            let prefixed = form.map { multipart.prepending($0, encoding: QueryEncoding()) }
            bodies.append(try .multipart(prefixed ?? multipart))
            form = nil
        }
        if bodies.count + (form == nil ? 0 : 1) > 1 {
            throw NetError(.usage, "a call can have only one of json, form, multipart and body")
        }
        self.body = bodies.first
        self.parameters = parameters ?? form
        self.query = query
        isForm = form != nil
    }

    /// Creates the request of the call.
    func request<Value>(
        _ path: some URLConvertible, _ method: Method, _ options: CallOptions, _ decoding: Decoding<Value>
    ) -> Request<Value> {
        var request = Request<Value>(
            path, method: method, parameters: parameters, query: query, headers: options.headers, body: body,
            decoding: decoding)
        if isForm {
            request.parameterPlacement = .form
        }
        options.apply(to: &request)
        return request
    }
}

extension CallContent {
    init(
        _ parameters: ParameterList?, _ query: ParameterList?, _ json: ParameterList?, _ form: ParameterList?,
        _ multipart: MultipartBody?, _ body: Body?
    ) throws(NetError) {
        let json = if let json { try Body.json(json) } else { Body?.none }
        try self.init(
            parameters.map { Parameters($0) }, query.map { Parameters($0) }, json, form.map { Parameters($0) },
            multipart, body)
    }

    init(
        _ parameters: Parameters?, _ query: Parameters?, _ json: Parameters?, _ form: Parameters?,
        _ multipart: MultipartBody?, _ body: Body?
    ) throws(NetError) {
        let json = if let json { try Body.json(json) } else { Body?.none }
        try self.init(parameters, query, json, form, multipart, body)
    }

    init(
        _ parameters: (any Encodable)?, _ query: (any Encodable)?, _ json: (any Encodable)?, _ form: (any Encodable)?,
        _ multipart: MultipartBody?, _ body: Body?
    ) throws(NetError) {
        let content = if let json { try Self.json(json) } else { Body?.none }
        try self.init(
            parameters.map { Parameters(any: $0) }, query.map { Parameters(any: $0) }, content,
            form.map { Parameters(any: $0) }, multipart, body)
    }

    private static func json(_ value: any Encodable) throws(NetError) -> Body {
        if let tree = value as? Parameters { try .json(tree) } else { try .json(value) }
    }
}

/// The other settings of a one-line call.
struct CallOptions {
    let headers: Headers
    private let credentials: Credentials
    private let caching: CacheRules
    private let timeout: Duration?
    private let redirects: RedirectPolicy
    private let retries: RetryPolicy
    private let acceptedStatuses: StatusSet
    private let progress: Agent.ProgressHandler?

    init(
        _ headers: Headers, _ credentials: Credentials, _ caching: CacheRules = .inherited, _ timeout: Duration? = nil,
        _ redirects: RedirectPolicy = .inherited, _ retries: RetryPolicy = .inherited,
        _ acceptedStatuses: StatusSet = .automatic, _ progress: Agent.ProgressHandler? = nil
    ) {
        self.headers = headers
        self.credentials = credentials
        self.caching = caching
        self.timeout = timeout
        self.redirects = redirects
        self.retries = retries
        self.acceptedStatuses = acceptedStatuses
        self.progress = progress
    }

    /// Applies the settings except the headers.
    func apply(to request: inout Request<some Sendable>) {
        if credentials != .inherited {
            request.credentials = credentials
        }
        if case .inherited = caching {
        } else {
            request.caching = caching
        }
        if let timeout {
            request.timeout = timeout
        }
        if redirects != .inherited {
            request.redirects = redirects
        }
        if case .inherited = retries {
        } else {
            request.retries = retries
        }
        if acceptedStatuses != .automatic {
            request.acceptedStatuses = acceptedStatuses
        }
        if let progress {
            request.progress = progress
        }
    }
}

extension Decoding where Value == JSONValue? {
    /// A JSON tree; `nil` if the body is empty or if its Content-Type is not JSON.
    static let treeIfJSON = Decoding<JSONValue?> { response in
        guard MediaTypes.accept(response.headers["Content-Type"], MediaTypes.json) else { return nil }
        return try Decoding<JSONValue?>.json.decode(response)
    }
}
