/// Makes a body of parameters, for kinds of bodies that NetKit does not write.
///
///     request.serializer = PropertyListSerializer()
///
/// It is asked where ``Request/parameterPlacement`` makes a body of the parameters, in the place of a form or JSON; those
/// that go into the URL, and those that begin a ``Body/multipart(_:)``, are not its affair.
public protocol RequestSerializer: Sendable {
    /// The body that says these parameters, with its type. It may be asked several times for one request, and has to say
    /// the same each time.
    ///
    /// What it throws ends the start before anything is sent: a ``NetError`` as it is, anything else under
    /// ``NetError/Code/unencodable``.
    func body(of parameters: Parameters, method: Method) throws -> Body
}

/// Writes parameters as a property list, as AFNetworking's serializer of that name does.
public struct PropertyListSerializer: RequestSerializer {
    /// How it is written.
    public var format: PropertyListFormat

    /// A serializer for this format.
    public init(format: PropertyListFormat = .xml) {
        self.format = format
    }

    /// The property list; ``NetError/Code/unencodable``, naming the path, for what none can say.
    public func body(of parameters: Parameters, method: Method) throws -> Body {
        try Body.propertyList(parameters, format: format) as Body
    }
}

extension Request {
    /// Who makes the body of the parameters; nil writes a form or JSON, as ``parameterPlacement`` says.
    public var serializer: (any RequestSerializer)? {
        get { content.rare?.value.serializer }
        set { content.rareParts.serializer = newValue }
    }
}

extension RequestSerializer {
    func checkedBody(of parameters: Parameters, method: Method) throws(NetError) -> Body {
        do {
            return try body(of: parameters, method: method)
        } catch {
            throw NetError(asking: error, .unencodable, "the serializer makes no body of the parameters")
        }
    }
}
