extension Request {
    /// The parameters, in addition to the URL and the body; `nil` adds none.
    ///
    /// They go into the URL's query for a method in ``queryMethods``. For other methods they become a form: an
    /// `application/x-www-form-urlencoded` body, or the first parts of a ``Body/multipart(_:)``. ``parameterPlacement``
    /// changes that. Parameters cannot become a body if there is another ``body``: sending the request then fails with
    /// ``NetError/Code/usage``. Place such parameters in the query.
    public var parameters: Parameters? {
        get { content.rare?.value.parameters }
        set { content.rareParts.parameters = newValue }
    }

    /// The encoding of the parameters.
    public var queryEncoding: QueryEncoding {
        get { content.rare?.value.queryEncoding ?? QueryEncoding() }
        set { content.rareParts.queryEncoding = newValue }
    }

    /// The position of the parameters.
    public var parameterPlacement: ParameterPlacement {
        get { content.rare?.value.placement ?? .byMethod }
        set { content.rareParts.placement = newValue }
    }

    /// The methods whose parameters go into the URL, compared case-insensitively: GET, HEAD and DELETE by default.
    /// Requests with these methods may also have a body.
    public var queryMethods: Set<Method> {
        get { content.rare?.value.queryMethods ?? Method.withQueryByDefault }
        set { content.rareParts.queryMethods = newValue }
    }
}

extension Request {
    /// Returns the same request with these parameters.
    public func with(parameters: Parameters?) -> Request {
        var request = self
        request.parameters = parameters
        return request
    }
}

extension Method {
    /// The methods whose parameters go into the URL by default.
    static let withQueryByDefault: Set<Method> = [.get, .head, .delete]

    /// Returns true if it is one of the methods, compared case-insensitively.
    fileprivate func isAmong(_ methods: Set<Method>) -> Bool {
        methods.contains(self) || methods.contains { $0.rawValue.isEqualIgnoringASCIICase(to: rawValue) }
    }
}

extension RequestContent {
    private enum Target {
        case url, form, json
    }

    private var target: Target {
        let said = rare?.value ?? RareContent()
        return switch said.placement {
        case .query: .url
        case .form: .form
        case .json: .json
        case .byMethod: method.isAmong(said.queryMethods) ? .url : .form
        case .byMethodAsJSON: method.isAmong(said.queryMethods) ? .url : .json
        }
    }

    /// Whether parameters become a body, or a part of it.
    var makesBodyOfParameters: Bool { target != .url && (body == nil || body?.multipartForm != nil) }

    /// Moves the parameters into the URL or the body.
    mutating func placeParameters() throws(NetError) {
        guard let said = rare?.value, let parameters = said.parameters else { return }
        let target = target
        rareParts.parameters = nil
        if target == .url {
            url = try said.queryEncoding.url(url, with: parameters)
        } else if let form = body?.multipartForm {
            body = try .multipart(form.beginning(with: parameters, encoding: said.queryEncoding))
        } else if body != nil {
            throw NetError(.usage, "a \(method) request has parameters and a body, and its parameters make a body")
        } else if let serializer = said.serializer {
            body = try serializer.checkedBody(of: parameters, method: method)
        } else if target == .form {
            body = try .form(parameters, encoding: said.queryEncoding)
        } else {
            body = try .json(parameters)
        }
    }

    /// Moves the parameters, and others that apply to every request, into the URL or the body.
    ///
    /// The others go into the URL if they cannot join the request's own: it has a body, or its parameters have no
    /// names.
    mutating func placeParameters(with others: Parameters?) throws(NetError) {
        guard let others else { return try placeParameters() }
        guard others.hasFields else {
            throw NetError(.usage, "the parameters of every request are an object")
        }
        let own = rare?.value.parameters
        if let own, own.hasFields {
            rareParts.parameters = own.filled(from: others)
        } else if own == nil, target == .url || makesBodyOfParameters {
            rareParts.parameters = others
        } else {
            url = try (rare?.value.queryEncoding ?? QueryEncoding()).url(url, with: others)
        }
        try placeParameters()
    }

    /// Whether the URL has a supported scheme and a host.
    var hasAbsoluteURL: Bool {
        guard let end = url.firstRange(of: "://") else { return false }
        return ["http", "https"].contains { String(url[..<end.lowerBound]).isEqualIgnoringASCIICase(to: $0) }
    }
}

extension Request {
    /// Returns the content with the parameters in place; makes no copy without parameters.
    func placed() throws(NetError) -> KeptContent {
        guard kept.value.rare?.value.parameters != nil else { return kept }
        var content = content
        try content.placeParameters()
        return KeptContent(content)
    }
}

extension Body {
    /// Returns parameters as a form (`application/x-www-form-urlencoded`; WHATWG URL, 5.1). ``Parameters/null`` is a
    /// form without fields that still has its type, as in AFNetworking.
    ///
    /// - Throws: ``NetError/Code/badParameter`` with the key of a value that cannot be written.
    public static func form(
        _ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        let bytes = parameters == .null ? [] : try encoding.formBytes(parameters)
        return Body(Bytes(bytes), contentType: "application/x-www-form-urlencoded")
    }

    /// Returns parameters as a form; `nil` is a form without fields that still has its type.
    public static func form(
        _ parameters: Parameters?, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        try form(parameters ?? .null, encoding: encoding)
    }
}
