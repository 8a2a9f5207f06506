internal import CNetCore

/// A finished response in the C core's pooled memory, which is returned with the last value that uses it.
@safe final class PooledResponse: ResponseStorage {
    // SAFETY: include/netcore/response.h: a response is immutable from on_done on, every getter and the release are
    // thread-safe, and the results of getters are borrowed from the response, which lives as long as this object.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let expected: KeptExpectation?

    /// Retains a borrowed response.
    ///
    /// - Parameter expected: the check of the body that the request required.
    init(retaining borrowed: OpaquePointer, expected: KeptExpectation? = nil) {
        unsafe raw = unsafe nc_response_retain(borrowed)
        self.expected = expected
    }

    deinit {
        unsafe nc_response_release(raw)
    }

    /// Calls `body` with the C core's response, which is valid during the call.
    func withRaw<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(raw)
    }

    var status: Int { Int(unsafe nc_response_status(raw)) }

    var httpVersion: HTTPVersion { HTTPVersion(unsafe nc_response_http_version(raw)) }

    var url: String { unsafe nc_response_url(raw).text }

    var proof: JSONExpectation? {
        guard let expected else { return nil }
        let isProven =
            unsafe nc_response_was_checked(raw) && nc_response_json_failure(raw).fault == .NC_JSON_FAULT_NONE
            && nc_response_mismatch_count(raw) == 0
        return isProven ? expected.value : nil
    }

    var bodyCount: Int { unsafe nc_response_body(raw).length }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe nc_response_body(raw).withSpan(body)
    }

    var headerCount: Int { unsafe nc_response_header_count(raw) }

    func headerField(at index: Int) -> Headers.Field {
        unsafe Headers.Field(nc_response_header_at(raw, index))
    }

    func headerContent(named name: String) -> ByteText? {
        unsafe name.withSlice { slice in
            var value = unsafe nc_slice()
            return unsafe nc_response_find_header(raw, slice, &value) ? value.byteText : nil
        }
    }

    var trailers: Headers {
        let count = unsafe nc_response_trailer_count(raw)
        if count == 0 {
            return Headers()
        }
        return Headers(
            (0..<count).map { index in
                unsafe Headers.Field(nc_response_trailer_at(raw, index))
            })
    }

    var isCloseDelimited: Bool { unsafe nc_response_is_close_delimited(raw) }

    /// The evaluation result that refused the last hop's certificate.
    var verdict: TrustVerdict? {
        guard let verdict = unsafe nc_response_verdict(raw) else { return nil }
        return unsafe TrustVerdict(verdict)
    }

    var hopCount: Int { unsafe nc_response_hop_count(raw) }

    func hop(at index: Int) -> HopMetrics {
        unsafe HopMetrics(nc_response_hop_at(raw, index))
    }
}

extension HTTPVersion {
    init(_ version: nc_http_version) {
        switch version {
        case .NC_HTTP_VERSION_1_0: self = .http1_0
        case .NC_HTTP_VERSION_1_1: self = .http1_1
        case .NC_HTTP_VERSION_2: self = .http2
        case .NC_HTTP_VERSION_3: self = .http3
        default: self = .unknown
        }
    }
}

extension HopMetrics {
    init(_ hop: nc_hop_metrics) {
        func moment(_ nanoseconds: UInt64) -> Duration? { nanoseconds == 0 ? nil : .nanoseconds(Int64(nanoseconds)) }
        self.init()
        url = unsafe hop.url.text
        status = Int(unsafe hop.status)
        httpVersion = HTTPVersion(unsafe hop.http_version)
        isReused = unsafe hop.is_reused
        connectionsOpened = Int(unsafe hop.connections_opened)
        remoteAddress = unsafe withUnsafeBytes(of: hop.remote_address) { unsafe Self.text(in: $0) }
        remotePort = unsafe hop.remote_port
        started = moment(unsafe hop.started_ns)
        resolved = moment(unsafe hop.resolved_ns)
        connected = moment(unsafe hop.connected_ns)
        secured = moment(unsafe hop.secured_ns)
        ready = moment(unsafe hop.ready_ns)
        firstByte = moment(unsafe hop.first_byte_ns)
        ended = moment(unsafe hop.ended_ns)
        sentBytes = Int(unsafe hop.sent_bytes)
        headBytes = Int(unsafe hop.head_bytes)
        receivedBytes = Int(unsafe hop.received_bytes)
        decodedBytes = Int(unsafe hop.decoded_bytes)
        droppedFields = Int(unsafe hop.dropped_fields)
        connectionID = unsafe hop.connection_id == 0 ? nil : Int(hop.connection_id)
        tlsVersion = unsafe withUnsafeBytes(of: hop.tls_version) { unsafe Self.text(in: $0) }
        tlsCipher = unsafe withUnsafeBytes(of: hop.tls_cipher) { unsafe Self.text(in: $0) }
        tlsGroup = unsafe withUnsafeBytes(of: hop.tls_group) { unsafe Self.text(in: $0) }
    }

    /// Returns the text up to the NUL.
    private static func text(in bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}
