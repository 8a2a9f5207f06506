internal import CNetCore

extension NetError {
    /// Creates the error for a failure of the C core, with the part of the response that had arrived.
    init(
        _ error: nc_error, received: PooledResponse? = nil, jsonFaults: [JSONFault] = [], underlying: (any Error)? = nil
    ) {
        let verdict = error.status == .NC_OK ? nil : received?.verdict
        let isPins = error.status == .NC_ERR_PIN_MISMATCH
        let isFormat = error.status == .NC_ERR_BAD_JSON || error.status == .NC_ERR_SHAPE_MISMATCH
        let faults = isFormat && jsonFaults.isEmpty ? received?.jsonFaults ?? [] : jsonFaults
        let isSource = error.status == .NC_ERR_BODY_SOURCE
        // The source's own error is more precise for a body that cannot be read again, and for a nested one.
        let cause = isSource ? underlying as? NetError : nil
        let own = cause?.code == .notRewindable || cause?.code == .bodySource ? cause : nil
        let text = isSource ? underlying.map { "\(error.text): \($0)" } ?? error.text : error.text
        self.init(
            own?.code ?? Code(error.status), own?.message ?? (isPins ? verdict?.message : nil) ?? text,
            nativeCode: Int(error.native_code),
            offset: error.offset >= 0 ? Int(error.offset) : nil,
            response: received.flatMap { $0.status == 0 ? nil : Response(received: $0) },
            metrics: received.map { Metrics(received: $0) }, jsonFaults: faults,
            underlying: own?.underlying ?? underlying,
            trust: verdict)
    }
}

extension NetError.Code {
    /// Exhaustive, so that a new status of the core causes a warning here and not a silent "internal".
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
        case .NC_ERR_BAD_STATUS: self = .unacceptableStatus
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
        case .NC_ERR_AUTHENTICATION: self = .authentication
        case .NC_ERR_CONNECT_TIMED_OUT: self = .connectTimedOut
        case .NC_ERR_FIRST_BYTE_TIMED_OUT: self = .firstByteTimedOut
        case .NC_ERR_IDLE_TIMED_OUT: self = .idleTimedOut
        case .NC_ERR_TOTAL_TIMED_OUT: self = .totalTimedOut
        case .NC_ERR_SLOT_TIMED_OUT: self = .slotTimedOut
        case .NC_ERR_CANCELLED: self = .cancelled
        case .NC_ERR_STOPPED_BY_CALLER: self = .stoppedByCaller
        case .NC_ERR_TOO_MANY_REDIRECTS: self = .tooManyRedirects
        case .NC_ERR_REDIRECT_REFUSED: self = .redirectRefused
        case .NC_ERR_WAIT_TIMED_OUT: self = .internal
        case .NC_ERR_BODY_SOURCE: self = .bodySource
        @unknown default: self = .internal
        }
    }
}

extension nc_error {
    /// The message, up to its NUL.
    fileprivate var text: String {
        unsafe withUnsafeBytes(of: message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}
