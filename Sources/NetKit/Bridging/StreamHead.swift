internal import CNetCore

/// The final head of a streamed response, copied: the response itself goes on changing until its end.
struct StreamHead: Sendable {
    var status: Int
    var headers: Headers
    var httpVersion: HTTPVersion
    var url: String

    init(copying response: OpaquePointer) {
        status = Int(unsafe nc_response_status(response))
        httpVersion = HTTPVersion(unsafe nc_response_http_version(response))
        url = unsafe nc_response_url(response).text
        headers = Headers(
            (0..<(unsafe nc_response_header_count(response))).map { index in
                let field = unsafe nc_response_header_at(response, index)
                return unsafe Headers.Field(name: field.name.text, value: field.value.text)
            })
    }
}
