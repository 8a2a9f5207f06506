internal import CNetCore

/// A complete response in pooled memory of the C core. The memory returns to the pool when the last value that uses it
/// is released.
@safe final class PooledResponse: ResponseStorage {
    // SAFETY: include/netcore/response.h: after on_done, a response is immutable, and all getters and the release are
    // thread-safe. The results of getters are borrowed from the response, which lives as long as this object.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let expected: ExpectationStorage?

    /// Retains a response that the core lends to a callback.
    ///
    /// - Parameter expected: the JSON expectation of the request, if it has one.
    init(retaining borrowed: OpaquePointer, expected: ExpectationStorage? = nil) {
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

    var metExpectation: JSONExpectation? {
        guard let expected else { return nil }
        let meetsExpectation =
            unsafe nc_response_was_checked(raw) && nc_response_json_failure(raw).fault == .NC_JSON_FAULT_NONE
            && nc_response_mismatch_count(raw) == 0
        return meetsExpectation ? expected.value : nil
    }

    var bodyCount: Int { unsafe nc_response_body(raw).length }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe nc_response_body(raw).withSpan(body)
    }

    var headerCount: Int { unsafe nc_response_header_count(raw) }

    func headerField(at index: Int) -> Headers.Field {
        unsafe Headers.Field(headerSlices(at: index))
    }

    /// Returns the field in the memory of the response.
    func headerSlices(at index: Int) -> nc_header {
        unsafe nc_response_header_at(raw, index)
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

    /// The evaluation result of the last hop's certificate, if it was refused.
    var trustResult: TrustResult? {
        guard let trustResult = unsafe nc_response_trust_result(raw) else { return nil }
        return unsafe TrustResult(trustResult)
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
        func time(_ nanoseconds: UInt64) -> Duration? { nanoseconds == 0 ? nil : .nanoseconds(Int64(nanoseconds)) }
        self.init()
        url = unsafe hop.url.text
        status = Int(unsafe hop.status)
        httpVersion = HTTPVersion(unsafe hop.http_version)
        isReused = unsafe hop.is_reused
        connectionsOpened = Int(unsafe hop.connections_opened)
        remoteAddress = unsafe withUnsafeBytes(of: hop.remote_address) { unsafe Self.text(in: $0) }
        remotePort = unsafe hop.remote_port
        started = time(unsafe hop.started_ns)
        resolved = time(unsafe hop.resolved_ns)
        connected = time(unsafe hop.connected_ns)
        secured = time(unsafe hop.secured_ns)
        ready = time(unsafe hop.ready_ns)
        firstByte = time(unsafe hop.first_byte_ns)
        ended = time(unsafe hop.ended_ns)
        sentBytes = Int(unsafe hop.sent_bytes)
        headBytes = Int(unsafe hop.head_bytes)
        receivedBytes = Int(unsafe hop.received_bytes)
        decodedBytes = Int(unsafe hop.decoded_bytes)
        droppedFields = Int(unsafe hop.dropped_fields)
        connectionID = unsafe hop.connection_id == 0 ? nil : Int(hop.connection_id)
        tlsVersion = unsafe withUnsafeBytes(of: hop.tls_version) { unsafe Self.text(in: $0) }
        tlsCipher = unsafe withUnsafeBytes(of: hop.tls_cipher) { unsafe Self.text(in: $0) }
        tlsGroup = unsafe withUnsafeBytes(of: hop.tls_group) { unsafe Self.text(in: $0) }
        quicVersion = unsafe hop.quic_version == 0 ? nil : Int(hop.quic_version)
        usedEarlyData = unsafe hop.used_early_data
    }

    /// Returns the text up to the first NUL.
    private static func text(in bytes: UnsafeRawBufferPointer) -> String {
        unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// A pool of memory blocks for streamed bodies. Blocks are reused because the system must map and zero the pages of a
/// new block, which takes as long as filling it.
@safe final class BlockPool: Sendable {
    /// The largest number of unused blocks in the pool (4 MiB).
    private static let maxFree = 16

    private let free = Lock<[Block]>([])

    func take() -> Block {
        free.withLock { $0.popLast() } ?? Block()
    }

    func give(_ block: Block) {
        free.withLock { free in
            if free.count < Self.maxFree {
                free.append(block)
            }
        }
    }
}

/// A block of memory of a fixed size.
@safe final class Block: Sendable {
    static let capacity = 256 << 10

    // SAFETY: one owner writes the block before it passes it on. After that the block is only read, until it is
    // returned to the pool.
    nonisolated(unsafe) let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 64)

    deinit {
        unsafe bytes.deallocate()
    }
}

/// Bytes in a block. The block returns to its pool when the last reader releases it.
@safe final class BlockBytes: ByteStorage {
    private let block: Block
    private let pool: BlockPool
    let bodyCount: Int

    init(_ block: Block, count: Int, pool: BlockPool) {
        self.block = block
        self.pool = pool
        bodyCount = count
    }

    deinit {
        pool.give(block)
    }

    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(Span(_bytes: RawSpan(_unsafeBytes: block.bytes[..<bodyCount])))
    }
}
