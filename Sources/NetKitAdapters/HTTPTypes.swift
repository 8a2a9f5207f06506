#if HTTPTypes
public import HTTPTypes
public import NetKit

extension Headers {
    /// The fields, in order.
    public init(_ fields: HTTPFields) {
        self.init(fields.map { Field($0) })
    }
}

extension HTTPFields {
    /// The fields, in order; one whose name is none to swift-http-types is left out.
    public init(_ headers: Headers) {
        self.init()
        for field in headers {
            if let name = HTTPField.Name(field.name) {
                append(HTTPField(name: name, value: Array(field.bytes)))
            }
        }
    }
}

extension Request where Value == Bytes {
    /// What a request of swift-http-types asks; without an authority it is relative to the agent's base URL.
    public init(_ request: HTTPRequest, body: Body? = nil) {
        let path = request.path ?? "/"
        let place = request.authority.map { "\(request.scheme ?? "https")://\($0)\(path)" } ?? path
        self.init(place, method: Method(rawValue: request.method.rawValue), body: body)
        headers = Headers(request.headerFields)
    }
}

extension HTTPResponse {
    /// The head of a response.
    public init(_ response: Response<some Sendable>) {
        self.init(status: .init(code: response.status), headerFields: HTTPFields(response.headers))
    }
}
#endif
