extension Request where Value: Decodable {
    /// Creates a request whose body is decoded by the type of its value (``Decoding/automatic``): JSON, except for text
    /// and bytes. A request for ``Bytes`` accepts any status (``acceptedStatuses``).
    ///
    /// - `query` goes into the URL, whatever the method is.
    /// - `parameters` become the query for GET, HEAD and DELETE, and a form for the other methods.
    /// - Both accept a dictionary literal, which may contain variables, and any `Encodable` value.
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: ParameterList? = nil,
        query: ParameterList? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters($0) }, query: query.map { Parameters($0) },
            headers: headers, body: body, decoding: .automatic, acceptedStatuses: Self.automaticStatuses)
    }

    /// Creates a request with trees of parameters, or literals with nested literals of several types.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: Parameters? = nil,
        query: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, query: query,
            headers: headers, body: body, decoding: .automatic, acceptedStatuses: Self.automaticStatuses)
    }

    /// Creates a request with the fields of encodable values, such as structures or dictionaries.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: (any Encodable)? = nil,
        query: (any Encodable)? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters(any: $0) },
            query: query.map { Parameters(any: $0) }, headers: headers, body: body, decoding: .automatic,
            acceptedStatuses: Self.automaticStatuses)
    }

    /// Creates a request with dictionaries of encodable values of several types.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: [String: any Encodable & Sendable]? = nil,
        query: [String: any Encodable & Sendable]? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters($0) }, query: query.map { Parameters($0) },
            headers: headers, body: body, decoding: .automatic, acceptedStatuses: Self.automaticStatuses)
    }

    private static var automaticStatuses: StatusSet { Value.self == Bytes.self ? .any : .automatic }
}

extension Request where Value == Void {
    /// Creates a request that ignores the body. Accepts statuses from 200 to 299.
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: ParameterList? = nil,
        query: ParameterList? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters($0) }, query: query.map { Parameters($0) },
            headers: headers, body: body, decoding: .nothing)
    }

    /// Creates a request with trees of parameters, or literals with nested literals of several types.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: Parameters? = nil,
        query: Parameters? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters, query: query,
            headers: headers, body: body, decoding: .nothing)
    }

    /// Creates a request with the fields of encodable values, such as structures or dictionaries.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: (any Encodable)? = nil,
        query: (any Encodable)? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters(any: $0) },
            query: query.map { Parameters(any: $0) }, headers: headers, body: body, decoding: .nothing)
    }

    /// Creates a request with dictionaries of encodable values of several types.
    @_disfavoredOverload
    public init(
        _ url: some URLConvertible, method: Method = .get, parameters: [String: any Encodable & Sendable]? = nil,
        query: [String: any Encodable & Sendable]? = nil, headers: Headers = [:], body: Body? = nil
    ) {
        self.init(
            url, method: method, parameters: parameters.map { Parameters($0) }, query: query.map { Parameters($0) },
            headers: headers, body: body, decoding: .nothing)
    }
}

extension Request {
    /// The base of a relative URL, such as that of a CDN. If `nil` or empty, the base of the service applies, or else
    /// that of the agent.
    public var baseURL: String? {
        get { callSettings?.value.baseURL }
        set { settings.baseURL = newValue }
    }

    /// Whether the request is sent unchanged. If true, the agent and the service add no base URL, fields or parameters.
    /// The URL must be absolute. Limits, redirects, trust and interceptors apply as usual.
    public var isComplete: Bool {
        get { callSettings?.value.isComplete ?? false }
        set { settings.isComplete = newValue }
    }
}

extension Request {
    /// Returns true if both requests have the same service and set the same base URL.
    func hasSameBaseURL(_ other: Request) -> Bool {
        service === other.service && baseURL == other.baseURL
    }

    /// Whether the URL or body already contains the parameters of the agent and the service. It stays true if an
    /// interceptor extends the query, but a different URL makes it false.
    var hasAppliedParameters: Bool {
        guard let placed = callSettings?.value.appliedParametersURL else { return false }
        return url == placed || url.hasPrefix(placed + (placed.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"))
    }

    /// Records that the current URL has all parameters, so that they are not added a second time when the request is
    /// sent again.
    package mutating func markParametersApplied() {
        settings.appliedParametersURL = url
    }

    /// Whether the URL comes from the response to an earlier request, such as the link to the next page. Parameters of
    /// the agent and the service that such a URL contains are not added again.
    var isServerControlledURL: Bool {
        get { callSettings?.value.isServerControlledURL ?? false }
        set { settings.isServerControlledURL = newValue }
    }

    /// Returns the same request. If the URL is the one that the bytes in `token` came from, it is marked as having all
    /// parameters.
    func resuming(_ token: ResumeToken) -> Request {
        guard url.withoutUserinfo == token.url, parameters == nil, query.isEmpty else { return self }
        var request = self
        request.markParametersApplied()
        return request
    }
}

extension Optional where Wrapped == String {
    /// The text, or `nil` if it is `nil` or empty.
    var nonEmpty: String? { self?.isEmpty == false ? self : nil }
}

extension Request {
    /// The fields of the request, with the Content-Type and Content-Encoding of the body unless the request sets them
    /// itself.
    package var sentFields: Headers {
        guard let body else { return headers }
        var fields = headers
        if let type = body.contentType, fields["Content-Type"] == nil {
            fields.append(name: "Content-Type", value: type)
        }
        if let coding = body.contentEncoding, fields["Content-Encoding"] == nil {
            fields.append(name: "Content-Encoding", value: coding)
        }
        return fields
    }

    /// Fields that are added to the cache key for settings that can change which server or resource responds, although
    /// the URL is the same. These settings are a Host field, a Unix socket, address overrides, and dot segments that
    /// are sent unchanged. Empty for most requests.
    var wayFields: [Headers.Field] {
        var fields = headers.hasAny(["Host"]) ? headers.only(["Host"]) : []
        if let unixSocket {
            fields.append(Headers.Field(name: "Unix-Socket", value: unixSocket))
        }
        for override in addressOverrides {
            let parts = [
                override.host ?? "", override.port.map { "\($0)" } ?? "", override.toHost ?? "",
                override.toPort.map { "\($0)" } ?? "",
            ]
            fields.append(Headers.Field(name: "Connect-To", value: parts.joined(separator: " ")))
        }
        // Added even if this URL has no dot segments, because the URL of a redirect may have some.
        if keepsDotSegments {
            fields.append(Headers.Field(name: "Path-As-Is", value: "yes"))
        }
        return fields
    }

    /// Fields that are added to the cache key for the redirect policy. Empty for the default policy.
    var redirectFields: [Headers.Field] {
        switch redirects {
        case .inherited, .follow: []
        case .followDowngrades: [Headers.Field(name: "Redirect", value: "downgrades")]
        case .return: [Headers.Field(name: "Redirect", value: "returned")]
        }
    }
}

/// Converts parameters to a body. Implement it for formats that NetKit cannot write.
///
///     struct Lines: RequestSerializer {
///         func body(of parameters: Parameters, method: Method) throws -> Body {
///             .text(try lines(parameters), contentType: "text/x-lines")
///         }
///     }
///     request.serializer = Lines()
///
/// The serializer is used where ``Request/parameterPlacement`` selects a form or a JSON body. It is not used for
/// parameters that go into the URL or become parts of a ``Body/multipart(_:)``.
public protocol RequestSerializer: Sendable {
    /// Returns the body for these parameters, with its content type. It may be called several times for one request and
    /// must always return the same body.
    /// An error thrown here ends the call before anything is sent. A ``NetError`` is thrown unchanged; any other error
    /// becomes ``NetError/Code/encoding``.
    func body(of parameters: Parameters, method: Method) throws -> Body
}

extension Request {
    /// The serializer of the parameters. If `nil`, parameters in the body become a form or JSON, as
    /// ``parameterPlacement`` selects.
    public var serializer: (any RequestSerializer)? {
        get { content.optionalStorage?.value.serializer }
        set { content.optionalSettings.serializer = newValue }
    }
}

extension RequestSerializer {
    func checkedBody(of parameters: Parameters, method: Method) throws(NetError) -> Body {
        do {
            return try body(of: parameters, method: method)
        } catch {
            throw NetError(wrapping: error, .encoding, "the serializer could not encode the parameters")
        }
    }
}
