import CNetTesting
import Dispatch

/// The scripted server of CNetTesting, for one test. It stops when it is deallocated.
@safe final class LoopbackServer: Sendable {
    enum Identity: Sendable {
        case plain, valid, expired, notYetValid, wrongName, untrusted, garbage
        /// A handshake that fails.
        case closed, reset, alert
        /// A server that supports only TLS 1.1.
        case tls1_1
    }

    enum Failure: Error {
        case notStarted(Int32)
        case waitedTooLong
    }

    /// Longer than any wait that succeeds, also under a sanitizer.
    private static let waitMilliseconds: UInt32 = 60_000

    // SAFETY: include/nettesting.h: every function called here is thread-safe. `stop` is called once, in `deinit`.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let isSecure: Bool
    private let host: String

    /// - Parameters:
    ///   - host: A loopback address. Another address is another origin.
    ///   - unixPath: The path of a Unix socket to listen on instead.
    init(
        _ identity: Identity = .plain, host: String = "127.0.0.1", unixPath: String? = nil,
        isTLS1_2Only: Bool = false, requiresClientCertificate: Bool = false, receiveBufferBytes: UInt32 = 0
    ) throws {
        var made: OpaquePointer?
        let status = unsafe host.withCString { host in
            unsafe (unixPath ?? "").withCString { path in
                var options = unsafe nct_server_options()
                unsafe options.identity = identity.cValue
                unsafe options.host = host
                unsafe options.unix_path = unixPath == nil ? nil : path
                unsafe options.is_tls_1_2_only = isTLS1_2Only
                unsafe options.client_check = requiresClientCertificate ? .NCT_CLIENT_REQUIRED : .NCT_CLIENT_ANONYMOUS
                unsafe options.receive_buffer_bytes = receiveBufferBytes
                return unsafe nct_server_start(&made, &options)
            }
        }
        guard status == 0, let made = unsafe made else { throw Failure.notStarted(status) }
        unsafe raw = made
        isSecure = identity != .plain
        self.host = host
    }

    deinit {
        unsafe nct_server_stop(raw)
    }

    var port: UInt16 { unsafe nct_server_port(raw) }

    /// The certificate of the authority that signed this server's certificate, as PEM.
    var authority: [UInt8] { Array(unsafe String(cString: nct_server_ca_pem(raw)).utf8) }

    /// Returns the absolute URL of a path on this server.
    func url(_ path: String, userinfo: String? = nil) -> String {
        "\(isSecure ? "https" : "http")://\(userinfo.map { "\($0)@" } ?? "")\(host):\(port)\(path)"
    }

    func script(_ path: String, _ reply: Reply) {
        script(path, [reply])
    }

    /// Sets the responses to successive requests. The last one is repeated.
    func script(_ path: String, _ replies: [Reply]) {
        let status = unsafe ReplyDescription.with(replies) { described in
            unsafe nct_server_script_sequence(raw, path, described, replies.count)
        }
        precondition(status == 0, "no memory for a script")
    }

    /// Accepts WebSockets at a path, and sends each message back.
    func echoMessages(at path: String) {
        var step = unsafe nct_socket_step()
        unsafe step.action = .NCT_SOCKET_ECHO
        let status = unsafe withUnsafePointer(to: &step) { step in
            var reply = unsafe nct_reply()
            unsafe reply.socket_steps = step
            unsafe reply.socket_step_count = 1
            return unsafe nct_server_script(raw, path, &reply)
        }
        precondition(status == 0, "no memory for a script")
    }

    /// Writes a client's certificate and key, signed by the server's authority, to cert.pem and key.pem.
    func writeClientIdentity(to folder: String) throws {
        let status = unsafe nct_server_client_identity_write(raw, folder)
        guard status == 0 else { throw Failure.notStarted(status) }
    }

    /// The number of body bytes received so far.
    var receivedByteCount: Int { unsafe nct_server_received_bytes(raw) }

    var clientCertificateCount: Int { unsafe nct_server_client_certificate_count(raw) }

    var requestCount: Int { unsafe nct_server_request_count(raw) }

    /// The number of handshakes that resumed a session.
    var resumedCount: Int { unsafe nct_server_resumed_count(raw) }

    var connectionCount: Int { unsafe nct_server_connection_count(raw) }

    /// Returns the first 64 KiB of a request.
    func receivedBytes(_ index: Int) -> [UInt8] {
        let length = unsafe nct_server_copy_request(raw, index, nil, 0)
        // With a capacity of 0, this would be the shared empty array. The initializer writes to it, which the thread
        // sanitizer reports.
        return unsafe [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
            count = unsafe min(length, nct_server_copy_request(raw, index, buffer.baseAddress, length), 64 << 10)
        }
    }

    func received(_ index: Int = 0) -> ReceivedRequest {
        ReceivedRequest(receivedBytes(index))
    }

    /// Resets the counters of requests and connections.
    func forgetRequests() {
        unsafe nct_server_forget(raw)
    }

    func releaseStalled() {
        unsafe nct_server_release_stalled(raw)
    }

    /// Waits until this many whole requests have arrived.
    func waitForRequests(_ count: Int) async throws {
        try await wait { unsafe nct_server_wait_for_requests($0.raw, count, Self.waitMilliseconds) }
    }

    /// Waits until the server holds this many responses.
    func waitForStalled(_ count: Int) async throws {
        try await wait { unsafe nct_server_wait_for_stalled($0.raw, count, Self.waitMilliseconds) }
    }

    /// Waits until this many body bytes have arrived.
    func waitForReceivedBytes(_ count: Int) async throws {
        try await wait { unsafe nct_server_wait_for_received_bytes($0.raw, count, Self.waitMilliseconds) }
    }

    /// Waits until no connection is open.
    func waitForSilence() async throws {
        try await wait { unsafe nct_server_wait_for_silence($0.raw, Self.waitMilliseconds) }
    }

    /// Waits on a private queue, so that it blocks no thread of the cooperative pool.
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
        case .closed: .NCT_TLS_CLOSED
        case .reset: .NCT_TLS_RESET
        case .alert: .NCT_TLS_ALERT
        case .tls1_1: .NCT_TLS_1_1
        }
    }
}
