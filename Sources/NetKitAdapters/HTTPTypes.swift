#if HTTPTypes
public import HTTPTypes
public import NetKit

extension Headers {
    /// Creates fields from those of swift-http-types, in order.
    public init(_ fields: HTTPFields) {
        self.init(fields.map { Field($0) })
    }
}

extension HTTPFields {
    /// Creates fields of swift-http-types, in order. A field whose name is invalid there is omitted.
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
    /// Creates a request from one of swift-http-types. Without an authority its URL is relative to the agent's base
    /// URL.
    public init(_ request: HTTPRequest, body: Body? = nil) {
        let path = request.path ?? "/"
        let place = request.authority.map { "\(request.scheme ?? "https")://\($0)\(path)" } ?? path
        self.init(place, method: Method(rawValue: request.method.rawValue), body: body)
        headers = Headers(request.headerFields)
    }
}

extension HTTPResponse {
    /// Creates a response head from a response.
    public init(_ response: Response<some Sendable>) {
        self.init(status: .init(code: response.status), headerFields: HTTPFields(response.headers))
    }
}
#endif
