internal import CNetCore

/// A copy of a streamed response's final head and those before it: the response itself changes until its end.
struct StreamHead: Sendable {
    var last: ResponseHead
    /// The heads of the followed redirects.
    var earlier: [ResponseHead]
    /// The metrics of each hop so far.
    var hops: [HopMetrics]

    init(copying response: OpaquePointer, after earlier: [ResponseHead]) {
        last = unsafe ResponseHead(copying: response)
        self.earlier = earlier
        hops = (0..<(unsafe nc_response_hop_count(response))).map { index in
            unsafe HopMetrics(nc_response_hop_at(response, index))
        }
    }
}

extension ResponseHead {
    init(copying response: OpaquePointer) {
        status = Int(unsafe nc_response_status(response))
        httpVersion = HTTPVersion(unsafe nc_response_http_version(response))
        url = unsafe nc_response_url(response).text
        headers = Headers(
            (0..<(unsafe nc_response_header_count(response))).map { index in
                unsafe Headers.Field(nc_response_header_at(response, index))
            })
    }
}
