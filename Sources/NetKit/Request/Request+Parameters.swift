extension Request {
    /// What the request says beside its URL and its body; nil says nothing.
    ///
    /// They go into the URL's query for a method among ``queryMethods``, and become a form otherwise: an
    /// `application/x-www-form-urlencoded` body, or the first parts of a ``Body/multipart(_:)``; ``parameterPlacement``
    /// says otherwise. A request whose parameters make a body and that has another ``body`` already is refused when it
    /// is sent (``NetError/Code/usage``): place them in the query.
    public var parameters: Parameters? {
        get { content.rare?.value.parameters }
        set { content.rareParts.parameters = newValue }
    }

    /// How the parameters are written.
    public var queryEncoding: QueryEncoding {
        get { content.rare?.value.queryEncoding ?? QueryEncoding() }
        set { content.rareParts.queryEncoding = newValue }
    }

    /// Where the parameters go.
    public var parameterPlacement: ParameterPlacement {
        get { content.rare?.value.placement ?? .byMethod }
        set { content.rareParts.placement = newValue }
    }

    /// The methods, compared without case, whose parameters go into the URL: GET, HEAD and DELETE. Any of them may have
    /// a body besides.
    public var queryMethods: Set<Method> {
        get { content.rare?.value.queryMethods ?? Method.withQueryByDefault }
        set { content.rareParts.queryMethods = newValue }
    }
}

extension Request {
    /// The same question with these parameters.
    public func with(parameters: Parameters?) -> Request {
        var request = self
        request.parameters = parameters
        return request
    }
}

extension Method {
    /// Those whose parameters go into the URL where a request does not say otherwise.
    static let withQueryByDefault: Set<Method> = [.get, .head, .delete]

    /// Whether it is among the methods, compared without case.
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

    /// Puts the parameters into the URL or the body; then there are none any more.
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

    /// Puts the parameters in their place, together with others that belong to every request.
    ///
    /// Where those cannot go with the request's own, because it has a body or no names, they go into the URL.
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

    /// Whether the URL has a scheme that is sent to, and a host.
    var hasAbsoluteURL: Bool {
        guard let end = url.firstRange(of: "://") else { return false }
        return ["http", "https"].contains { String(url[..<end.lowerBound]).isEqualIgnoringASCIICase(to: $0) }
    }
}

extension Request {
    /// The content with the parameters in their place; what has none is not copied.
    func placed() throws(NetError) -> KeptContent {
        guard kept.value.rare?.value.parameters != nil else { return kept }
        var content = content
        try content.placeParameters()
        return KeptContent(content)
    }
}

extension Body {
    /// Parameters as a form (`application/x-www-form-urlencoded`; WHATWG URL, 5.1). ``Parameters/null`` is a form without
    /// fields, and has its type all the same, as AFNetworking has it.
    ///
    /// Throws ``NetError/Code/badParameter``, naming the key, for what cannot be written.
    public static func form(
        _ parameters: Parameters, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        let bytes = parameters == .null ? [] : try encoding.formBytes(parameters)
        return Body(Bytes(bytes), contentType: "application/x-www-form-urlencoded")
    }

    /// Parameters as a form; nil is a form without fields, which has its type all the same.
    public static func form(
        _ parameters: Parameters?, encoding: QueryEncoding = QueryEncoding()
    ) throws(NetError) -> Body {
        try form(parameters ?? .null, encoding: encoding)
    }
}
