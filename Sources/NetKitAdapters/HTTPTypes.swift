#if HTTPTypes
public import HTTPTypes
public import NetKit

extension Headers {
    /// Creates headers from fields of swift-http-types, in the same order.
    public init(_ fields: HTTPFields) {
        self.init(fields.map { Field($0) })
    }
}

extension HTTPFields {
    /// Creates fields of swift-http-types from headers, in the same order. A field whose name is invalid in
    /// swift-http-types is omitted.
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
    /// Creates a request from a request of swift-http-types. If that has no authority, the URL is relative to the
    /// agent's base URL.
    public init(_ request: HTTPRequest, body: Body? = nil) {
        let path = request.path ?? "/"
        let url = request.authority.map { "\(request.scheme ?? "https")://\($0)\(path)" } ?? path
        self.init(url, method: Method(rawValue: request.method.rawValue), body: body)
        headers = Headers(request.headerFields)
    }
}

extension HTTPResponse {
    /// Creates a response head of swift-http-types from a response.
    public init(_ response: Response<some Sendable>) {
        self.init(status: .init(code: response.status), headerFields: HTTPFields(response.headers))
    }
}
#endif
