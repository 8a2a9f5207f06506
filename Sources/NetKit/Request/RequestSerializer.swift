/// Converts parameters to a body, for formats that NetKit does not write.
///
///     request.serializer = PropertyListSerializer()
///
/// It replaces the form or the JSON body of ``Request/parameterPlacement``. It is not used for parameters that go into
/// the URL or begin a ``Body/multipart(_:)``.
public protocol RequestSerializer: Sendable {
    /// Returns the body for these parameters, with its type. It may be called several times for one request and must
    /// always return the same.
    ///
    /// An error thrown here ends the call before anything is sent: a ``NetError`` unchanged, any other error as
    /// ``NetError/Code/unencodable``.
    func body(of parameters: Parameters, method: Method) throws -> Body
}

/// Writes parameters as a property list, like AFNetworking's serializer with that name.
public struct PropertyListSerializer: RequestSerializer {
    /// The format.
    public var format: PropertyListFormat

    /// Creates a serializer with this format.
    public init(format: PropertyListFormat = .xml) {
        self.format = format
    }

    /// Returns the property list.
    ///
    /// - Throws: ``NetError/Code/unencodable`` with the path of a value that a property list cannot express.
    public func body(of parameters: Parameters, method: Method) throws -> Body {
        try Body.propertyList(parameters, format: format) as Body
    }
}

extension Request {
    /// The serializer of the parameters. If `nil`, they become a form or JSON, by ``parameterPlacement``.
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
