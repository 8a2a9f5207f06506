extension Request {
    /// The parameters, which are added to the URL or the body. If `nil`, none are added.
    /// They go into the URL's query for a method in ``queryMethods``. For other methods they become a form: an
    /// `application/x-www-form-urlencoded` body, or the first parts of a ``Body/multipart(_:)``. To change this, set
    /// ``parameterPlacement``.
    /// Parameters cannot become the body if the request has another ``body``. Sending such a request fails with
    /// ``NetError/Code/usage``; place the parameters in the query instead.
    ///
    /// A literal with variables can be assigned too: `request.parameters = ["q": text, "page": page]`. To assign another
    /// value, write `.init(value)`.
    public var parameters: Parameters? {
        get { content.optionalStorage?.value.parameters }
        set { content.optionalSettings.parameters = newValue }
    }

    /// The parameters of the URL's query, whatever the method is. They are sent beside ``parameters``.
    ///
    ///     request.query = ["q": text, "page": page]
    ///     request.query["dryRun"] = true
    public var query: Parameters {
        get { content.optionalStorage?.value.query ?? [:] }
        set { content.optionalSettings.query = newValue.isEmpty ? Parameters?.none : newValue }
    }

    /// The encoding of the parameters.
    public var queryEncoding: QueryEncoding {
        get { content.optionalStorage?.value.queryEncoding ?? QueryEncoding() }
        set { content.optionalSettings.queryEncoding = newValue }
    }

    /// Where the parameters are sent: in the URL or in the body.
    public var parameterPlacement: ParameterPlacement {
        get { content.optionalStorage?.value.placement ?? .byMethod }
        set { content.optionalSettings.placement = newValue }
    }

    /// The methods whose parameters go into the URL, compared case-insensitively: GET, HEAD and DELETE by default.
    /// Requests with these methods may also have a body.
    public var queryMethods: Set<Method> {
        get { content.optionalStorage?.value.queryMethods ?? Method.withQueryByDefault }
        set { content.optionalSettings.queryMethods = newValue }
    }
}

/// A type to whose `parameters` a literal with variables can be assigned.
public protocol ParametersHolder {
    /// The parameters.
    var parameters: Parameters? { get set }
}

extension ParametersHolder {
    /// The parameters, for assigning a literal with variables: `request.parameters = ["q": text, "page": page]`.
    @_disfavoredOverload
    public var parameters: ParameterList {
        get {
            let parameters: Parameters? = parameters
            return ParameterList(fields: parameters?.fields ?? [])
        }
        set {
            let parameters: Parameters? = Parameters(newValue)
            self.parameters = parameters
        }
    }
}

/// A type to whose `query` a literal with variables can be assigned.
public protocol QueryHolder {
    /// The parameters of the query.
    var query: Parameters { get set }
}

extension QueryHolder {
    /// The query, for assigning a literal with variables: `request.query = ["q": text, "page": page]`.
    @_disfavoredOverload
    public var query: ParameterList {
        get {
            let query: Parameters = query
            return ParameterList(fields: query.fields)
        }
        set {
            let query: Parameters = Parameters(newValue)
            self.query = query
        }
    }
}

extension Request: ParametersHolder, QueryHolder {}

extension Method {
    /// The methods whose parameters go into the URL by default.
    static let withQueryByDefault: Set<Method> = [.get, .head, .delete]

    /// Returns true if `methods` contains this method, compared case-insensitively.
    fileprivate func isAmong(_ methods: Set<Method>) -> Bool {
        methods.contains(self) || methods.contains { $0.rawValue.isEqualIgnoringASCIICase(to: rawValue) }
    }
}

extension RequestContent {
    private enum Target {
        case url, form, json
    }

    private var target: Target {
        let settings = optionalStorage?.value ?? OptionalSettings()
        return switch settings.placement {
        case .query: .url
        case .form: .form
        case .json: .json
        case .byMethod: method.isAmong(settings.queryMethods) ? .url : .form
        case .byMethodAsJSON: method.isAmong(settings.queryMethods) ? .url : .json
        }
    }

    /// Whether parameters become the body, or parts of a multipart form.
    var makesBodyOfParameters: Bool { target != .url && (body == nil || body?.multipartForm != nil) }

    /// Moves the parameters into the URL or the body, and writes a JSON body with the settings of the request.
    mutating func applyParameters() throws(NetError) {
        try mergeQuery()
        try placeParameters()
        if let json = optionalStorage?.value.json {
            try body?.apply(json.value)
        }
    }

    /// Makes the query part of the parameters. If those are sent as a body, the query is moved into the URL.
    mutating func mergeQuery() throws(NetError) {
        guard let query = optionalStorage?.value.query else { return }
        var settings = optionalSettings
        settings.query = nil
        if let parameters = settings.parameters {
            if target == .url, query.hasFields, parameters.hasFields {
                settings.parameters = .object(query.fields + parameters.fields)
            } else {
                url = try settings.queryEncoding.url(url, with: query)
            }
        } else {
            settings.parameters = query
            settings.placement = .query
        }
        optionalSettings = settings
    }

    private mutating func placeParameters() throws(NetError) {
        guard let settings = optionalStorage?.value, let parameters = settings.parameters else { return }
        let target = target
        optionalSettings.parameters = nil
        if target == .url {
            url = try settings.queryEncoding.url(url, with: parameters)
        } else if let form = body?.multipartForm {
            body = try .multipart(form.prepending(parameters, encoding: settings.queryEncoding))
        } else if body != nil {
            throw NetError(.usage, "a \(method) request has both a body and parameters that are sent as a body")
        } else if let serializer = settings.serializer {
            body = try serializer.checkedBody(of: parameters, method: method)
        } else if target == .form {
            body = try .form(parameters, encoding: settings.queryEncoding)
        } else {
            body = try .json(parameters)
        }
    }

    /// Moves the parameters, and the additional parameters that apply to every request, into the URL or the body.
    /// If the additional parameters cannot be combined with the request's own, they go into the URL. This happens if
    /// the request has a body, or if its parameters have no names.
    mutating func applyParameters(with additional: Parameters?) throws(NetError) {
        guard let additional else { return try applyParameters() }
        guard additional.hasFields else {
            throw NetError(.usage, "parameters that apply to every request must be an object with named values")
        }
        try mergeQuery()
        let own = optionalStorage?.value.parameters
        if let own, own.hasFields {
            optionalSettings.parameters = own.filled(from: additional)
        } else if own == nil, target == .url || makesBodyOfParameters {
            optionalSettings.parameters = additional
        } else {
            url = try (optionalStorage?.value.queryEncoding ?? QueryEncoding()).url(url, with: additional)
        }
        try applyParameters()
    }

    /// Whether the URL has a supported scheme and a host.
    var hasAbsoluteURL: Bool { url.isAbsoluteWebURL }
}

extension Request {
    /// Makes the query part of the parameters. Without a query, the content is not copied.
    mutating func mergeQuery() throws(NetError) {
        guard storage.value.optionalStorage?.value.query != nil else { return }
        try content.mergeQuery()
    }

    /// Moves the parameters into the URL or the body.
    package mutating func applyParameters() throws(NetError) {
        try content.applyParameters()
    }

    /// Returns the content with the parameters moved into the URL or the body. Without parameters, it is not copied.
    func placed() throws(NetError) -> RequestStorage {
        guard let settings = storage.value.optionalStorage?.value, settings.parameters != nil || settings.query != nil
        else { return storage }
        var content = content
        try content.applyParameters()
        return RequestStorage(content)
    }
}

extension Body {
    /// Returns parameters as a form (`application/x-www-form-urlencoded`; WHATWG URL, 5.1). `nil` gives an empty
    /// body that still has the form's content type, as in AFNetworking.
    /// - Throws: ``NetError/Code/badParameter`` with the key of a value that cannot be written.
    public static func form(
        _ parameters: Parameters?, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        let parameters = parameters ?? .null
        let bytes = parameters == .null ? [] : try encoding.formBytes(parameters)
        return Body(Bytes(bytes), contentType: "application/x-www-form-urlencoded")
    }

    /// Returns a dictionary literal with variables as a form.
    public static func form(
        _ list: ParameterList, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        try form(Parameters(list), encoding: encoding)
    }

    /// Returns the fields of an encodable value, such as a structure or a dictionary, as a form.
    @_disfavoredOverload
    public static func form(
        _ value: some Encodable, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        try form(Parameters(value), encoding: encoding)
    }

    /// Returns a dictionary of encodable values of several types as a form.
    @_disfavoredOverload
    public static func form(
        _ values: [String: any Encodable & Sendable], encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        try form(Parameters(values), encoding: encoding)
    }
}

/// Computes a request's parameters each time the request is started.
///
///     request.parameterSource = ParameterSource { _ in ["position": .init(await locator.position())] }
public struct ParameterSource: Sendable {
    /// Returns the parameters, or `nil` to keep those of the request.
    /// An error thrown here ends the call before anything is sent. A ``NetError`` is thrown unchanged; any other error
    /// becomes ``NetError/Code/badParameter``.
    let compute: @Sendable (Request<Bytes>) async throws -> Parameters?

    /// Creates a source from a closure, which receives the original request.
    public init(_ compute: @escaping @Sendable (Request<Bytes>) async throws -> Parameters?) {
        self.compute = compute
    }
}

extension Request {
    /// Computes the parameters each time the request is started. The result replaces ``parameters``.
    public var parameterSource: ParameterSource? {
        get { callSettings?.value.parameterSource }
        set { settings.parameterSource = newValue }
    }

    /// Selects the parameters that are part of the cache key, for example to leave out a timestamp. The closure
    /// receives all parameters that are sent, including those of the agent and the service. If `nil`, all parameters
    /// are part of the key.
    public var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)? {
        get { callSettings?.value.cacheKeyParameters }
        set { settings.cacheKeyParameters = newValue }
    }
}

extension NetError {
    /// Converts an error that a closure or an object of the application threw. A ``NetError`` stays unchanged, a
    /// `CancellationError` becomes ``NetError/Code/cancelled``, and any other error gets the given code and message.
    public init(wrapping error: any Error, _ code: Code, _ message: String, response: Response<Bytes>? = nil) {
        if let error = error as? NetError {
            self = error
        } else if error is CancellationError {
            self.init(.cancelled, "the task was cancelled", underlying: error)
        } else {
            self.init(code, "\(message): \(error)", response: response, underlying: error)
        }
    }
}

/// Where the parameters of a request are sent: in the URL or in the body.
public enum ParameterPlacement: Sendable, Hashable {
    /// In the URL if the method is in ``Request/queryMethods``, otherwise as a form in the body.
    case byMethod
    /// In the URL if the method is in ``Request/queryMethods``, otherwise as a JSON body.
    case byMethodAsJSON
    /// In the URL.
    case query
    /// As a form in the body, also for GET and DELETE.
    case form
    /// As a JSON body, also for GET and DELETE.
    case json
}
