package import CNetCore
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension NetError {
    /// Creates the error for a failure that the C core reported, with the part of the response that had arrived.
    init(
        _ error: nc_error, received: PooledResponse? = nil, jsonFaults: [JSONFault] = [], underlying: (any Error)? = nil
    ) {
        let trustResult = error.status == .NC_OK ? nil : received?.trustResult
        let isPinMismatch = error.status == .NC_ERR_PIN_MISMATCH
        let isJSONError = error.status == .NC_ERR_BAD_JSON || error.status == .NC_ERR_SHAPE_MISMATCH
        let faults = isJSONError && jsonFaults.isEmpty ? received?.jsonFaults ?? [] : jsonFaults
        let isSourceError = error.status == .NC_ERR_BODY_SOURCE
        // If the body's source threw one of these errors itself, its error is more precise and replaces that of the
        // core.
        let cause = isSourceError ? underlying as? NetError : nil
        let sourceError = cause?.code == .notRewindable || cause?.code == .bodySource ? cause : nil
        let text = isSourceError ? underlying.map { "\(error.text): \($0)" } ?? error.text : error.text
        self.init(
            sourceError?.code ?? Code(error.status),
            sourceError?.message ?? (isPinMismatch ? trustResult?.message : nil) ?? text,
            nativeCode: Int(error.native_code),
            offset: error.offset >= 0 ? Int(error.offset) : nil,
            response: received.flatMap { $0.status == 0 ? nil : Response(received: $0) },
            metrics: received.map { Metrics(received: $0) }, jsonFaults: faults,
            underlying: sourceError?.underlying ?? underlying,
            trust: trustResult)
    }
}

extension NetError {
    /// Creates the error for a failure that the C core reported.
    package init(_ error: nc_error) {
        self.init(error, received: nil)
    }
}

extension NetError.Code {
    /// Converts a status of the core. The switch lists all statuses, so that a new one causes a compiler warning
    /// instead of becoming ``internal`` unnoticed.
    init(_ status: nc_status) {
        switch status {
        case .NC_OK, .NC_ERR_INTERNAL: self = .internal
        case .NC_ERR_USAGE: self = .usage
        case .NC_ERR_BAD_URL: self = .badURL
        case .NC_ERR_BAD_METHOD: self = .badMethod
        case .NC_ERR_BAD_HEADER: self = .badHeader
        case .NC_ERR_BAD_SCHEME: self = .badScheme
        case .NC_ERR_UNSUPPORTED: self = .unsupported
        case .NC_ERR_CLOSED: self = .closed
        case .NC_ERR_BODY_LENGTH: self = .bodyLength
        case .NC_ERR_NOT_REWINDABLE: self = .notRewindable
        case .NC_ERR_BAD_PARAMETER: self = .badParameter
        case .NC_ERR_BAD_PART: self = .badPart
        case .NC_ERR_BAD_PIN: self = .badPin
        case .NC_ERR_BAD_SHAPE: self = .badShape
        case .NC_ERR_NO_MEMORY: self = .noMemory
        case .NC_ERR_TOO_LARGE: self = .tooLarge
        case .NC_ERR_FILE: self = .file
        case .NC_ERR_DESCRIPTORS: self = .descriptors
        case .NC_ERR_THREAD: self = .thread
        case .NC_ERR_QUEUE_FULL: self = .queueFull
        case .NC_ERR_BAD_RESPONSE: self = .badResponse
        case .NC_ERR_BAD_CODING: self = .badCoding
        case .NC_ERR_HEAD_TOO_LARGE: self = .headTooLarge
        case .NC_ERR_BODY_TOO_LARGE: self = .bodyTooLarge
        case .NC_ERR_BAD_REDIRECT: self = .badRedirect
        case .NC_ERR_BAD_CHARSET: self = .badCharset
        case .NC_ERR_BAD_JSON: self = .badJSON
        case .NC_ERR_SHAPE_MISMATCH: self = .shapeMismatch
        case .NC_ERR_DIGEST_MISMATCH: self = .digestMismatch
        case .NC_ERR_BAD_RANGE: self = .badRange
        case .NC_ERR_BAD_STATUS: self = .status
        case .NC_ERR_UPGRADE_REFUSED: self = .upgradeRefused
        case .NC_ERR_BAD_UPGRADE: self = .badUpgrade
        case .NC_ERR_BAD_FRAME: self = .badFrame
        case .NC_ERR_BAD_TEXT: self = .badText
        case .NC_ERR_BAD_DEFLATE: self = .badDeflate
        case .NC_ERR_MESSAGE_TOO_LARGE: self = .messageTooLarge
        case .NC_ERR_FRAME_FLOOD: self = .frameFlood
        case .NC_ERR_TLS_HANDSHAKE: self = .tlsHandshake
        case .NC_ERR_TLS_UNTRUSTED: self = .tlsUntrusted
        case .NC_ERR_TLS_EXPIRED: self = .tlsExpired
        case .NC_ERR_TLS_NOT_YET_VALID: self = .tlsNotYetValid
        case .NC_ERR_TLS_NAME: self = .tlsName
        case .NC_ERR_TLS_CERTIFICATE: self = .tlsCertificate
        case .NC_ERR_TLS_ROOTS: self = .tlsRoots
        case .NC_ERR_TLS_BACKEND: self = .tlsBackend
        case .NC_ERR_TLS_IDENTITY: self = .tlsIdentity
        case .NC_ERR_PIN_MISMATCH: self = .pinMismatch
        case .NC_ERR_PLAINTEXT_REFUSED: self = .plaintextRefused
        case .NC_ERR_TLS_REVOKED: self = .tlsRevoked
        case .NC_ERR_TLS_STAPLE: self = .tlsStaple
        case .NC_ERR_RESOLVE: self = .resolve
        case .NC_ERR_CONNECT: self = .connect
        case .NC_ERR_REFUSED: self = .refused
        case .NC_ERR_UNREACHABLE: self = .unreachable
        case .NC_ERR_RESET: self = .reset
        case .NC_ERR_CUT_SHORT: self = .cutShort
        case .NC_ERR_EMPTY_REPLY: self = .emptyReply
        case .NC_ERR_SEND: self = .send
        case .NC_ERR_RECEIVE: self = .receive
        case .NC_ERR_HTTP2: self = .http2
        case .NC_ERR_PROXY: self = .proxy
        case .NC_ERR_HTTP3: self = .http3
        case .NC_ERR_AUTHENTICATION: self = .authentication
        case .NC_ERR_CONNECT_TIMED_OUT: self = .connectTimeout
        case .NC_ERR_FIRST_BYTE_TIMED_OUT: self = .firstByteTimeout
        case .NC_ERR_IDLE_TIMED_OUT: self = .idleTimeout
        case .NC_ERR_TOTAL_TIMED_OUT: self = .timeout
        case .NC_ERR_SLOT_TIMED_OUT: self = .slotTimeout
        case .NC_ERR_PEER_TIMED_OUT: self = .peerTimeout
        case .NC_ERR_CANCELLED: self = .cancelled
        case .NC_ERR_STOPPED_BY_CALLER: self = .stoppedByCaller
        case .NC_ERR_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        case .NC_ERR_REDIRECT_REFUSED: self = .redirectRefused
        case .NC_ERR_WAIT_TIMED_OUT: self = .internal
        case .NC_ERR_BODY_SOURCE: self = .bodySource
        case .NC_ERR_NOT_CACHED: self = .notCached
        @unknown default: self = .internal
        }
    }
}

extension nc_error {
    /// The message, up to the first NUL.
    fileprivate var text: String {
        unsafe withUnsafeBytes(of: message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension NetError {
    /// Creates the error of a failed file operation. If the process has no more file descriptors or memory, the error
    /// has a separate code, because the cause is not the file.
    ///
    /// - Parameters:
    ///   - code: `errno`. It is the first parameter because creating the text for the second one may change `errno`.
    ///   - description: the failed operation, with the name of the file.
    package init(system code: Int32, _ description: String) {
        let isFull = code == EMFILE || code == ENFILE
        let reason: Code = isFull ? .descriptors : code == ENOMEM ? .noMemory : .file
        self.init(reason, "\(description): \(unsafe String(cString: strerror(code)))", nativeCode: Int(code))
    }
}
