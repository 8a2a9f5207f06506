import CNetTesting
import Dispatch

/// The scripted server of CNetTesting, for one test; it stops with its last reference.
@safe final class LoopbackServer: Sendable {
    enum Identity: Sendable {
        case plain, valid, expired, notYetValid, wrongName, untrusted, garbage
    }

    enum Failure: Error {
        case notStarted(Int32)
        case waitedTooLong
    }

    /// No wait that should succeed comes near it, also under a sanitizer.
    private static let waitMilliseconds: UInt32 = 60_000

    // SAFETY: include/nettesting.h: every function called here is thread-safe; stop is called once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let isSecure: Bool

    init(_ identity: Identity = .plain) throws {
        var options = nct_server_options()
        options.identity = identity.cValue
        var made: OpaquePointer?
        let status = unsafe nct_server_start(&made, &options)
        guard status == 0, let made = unsafe made else { throw Failure.notStarted(status) }
        unsafe raw = made
        isSecure = identity != .plain
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The authority that signed this server's certificate.
    var authority: [UInt8] { Array(unsafe String(cString: nct_server_ca_pem(raw)).utf8) }

    /// The absolute URL of a path on this server.
    func url(_ path: String, userinfo: String? = nil) -> String {
        "\(isSecure ? "https" : "http")://\(userinfo.map { "\($0)@" } ?? "")127.0.0.1:\(port)\(path)"
    }

    func script(_ path: String, _ reply: Reply) {
        let lines = reply.headers.map { "\($0)\r\n" }.joined()
        let status = unsafe lines.withCString { lines in
            unsafe (reply.location ?? "").withCString { location in
                unsafe reply.body.withUnsafeBytes { body in
                    var described = unsafe nct_reply()
                    unsafe described.status = reply.location == nil || reply.status != 200 ? reply.status : 0
                    unsafe described.headers = lines
                    unsafe described.body = body.baseAddress
                    unsafe described.body_length = body.count
                    unsafe described.pattern_length = reply.patternLength
                    unsafe described.is_echo = reply.isEcho
                    unsafe described.is_raw = reply.isRaw
                    unsafe described.chunk_bytes = reply.chunkBytes
                    unsafe described.cut_after = reply.cutAfter ?? 0
                    unsafe described.is_cut = reply.cutAfter != nil
                    unsafe described.ending = reply.ending.cValue
                    unsafe described.location = reply.location == nil ? nil : location
                    return unsafe nct_server_script(raw, path, &described)
                }
            }
        }
        precondition(status == 0, "no memory for a script")
    }

    var requestCount: Int { unsafe nct_server_request_count(raw) }

    var connectionCount: Int { unsafe nct_server_connection_count(raw) }

    /// The exact bytes of a request, the first 64 KiB of it.
    func receivedBytes(_ index: Int) -> [UInt8] {
        let length = unsafe nct_server_copy_request(raw, index, nil, 0)
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = unsafe min(length, nct_server_copy_request(raw, index, buffer.baseAddress, length), 64 << 10)
        }
    }

    func received(_ index: Int = 0) -> ReceivedRequest {
        ReceivedRequest(receivedBytes(index))
    }

    /// Counting requests and connections begins at 0 again.
    func forgetRequests() {
        unsafe nct_server_forget(raw)
    }

    func releaseStalled() {
        unsafe nct_server_release_stalled(raw)
    }

    /// Waits until this many requests have come whole.
    func waitForRequests(_ count: Int) async throws {
        try await wait { unsafe nct_server_wait_for_requests($0.raw, count, Self.waitMilliseconds) }
    }

    /// Waits until this many replies are stalled at once.
    func waitForStalled(_ count: Int) async throws {
        try await wait { unsafe nct_server_wait_for_stalled($0.raw, count, Self.waitMilliseconds) }
    }

    /// Waits until no connection is open.
    func waitForSilence() async throws {
        try await wait { unsafe nct_server_wait_for_silence($0.raw, Self.waitMilliseconds) }
    }

    /// A private queue has a thread of its own, so that a wait takes none from the cooperative pool.
    private func wait(_ condition: @escaping @Sendable (LoopbackServer) -> Bool) async throws {
        let isMet = await withCheckedContinuation { continuation in
            DispatchQueue(label: "LoopbackServer.wait").async { continuation.resume(returning: condition(self)) }
        }
        if !isMet {
            throw Failure.waitedTooLong
        }
    }
}

extension LoopbackServer.Identity {
    fileprivate var cValue: nct_identity {
        switch self {
        case .plain: .NCT_PLAIN
        case .valid: .NCT_TLS_VALID
        case .expired: .NCT_TLS_EXPIRED
        case .notYetValid: .NCT_TLS_NOT_YET_VALID
        case .wrongName: .NCT_TLS_WRONG_NAME
        case .untrusted: .NCT_TLS_UNTRUSTED
        case .garbage: .NCT_TLS_GARBAGE
        }
    }
}

extension Reply.Ending {
    fileprivate var cValue: nct_ending {
        switch self {
        case .keep: .NCT_KEEP
        case .close: .NCT_CLOSE
        case .reset: .NCT_RESET
        case .stall: .NCT_STALL
        }
    }
}
