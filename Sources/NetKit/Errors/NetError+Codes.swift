extension NetError.Code: CustomStringConvertible {
    /// An argument is missing or out of range.
    public static let usage = Self(rawValue: 1)
    /// The URL is malformed.
    public static let badURL = Self(rawValue: 2)
    /// The method is not a token (RFC 9110, 9.1).
    public static let badMethod = Self(rawValue: 3)
    /// A header name or value contains a forbidden character.
    public static let badHeader = Self(rawValue: 4)
    /// The URL's scheme is not http or https.
    public static let badScheme = Self(rawValue: 5)
    /// The underlying libraries do not support this.
    public static let unsupported = Self(rawValue: 6)
    /// The agent was shut down, or the WebSocket is closed.
    public static let closed = Self(rawValue: 7)
    /// The request's body does not have the announced length.
    public static let bodyLength = Self(rawValue: 8)
    /// The request's body cannot be sent a second time.
    public static let notRewindable = Self(rawValue: 9)
    /// A parameter cannot be encoded.
    public static let badParameter = Self(rawValue: 10)
    /// A part of the multipart body cannot be sent.
    public static let badPart = Self(rawValue: 11)
    /// A pin or a host pattern is malformed.
    public static let badPin = Self(rawValue: 12)
    /// A ``JSONShape`` is invalid, or cannot be derived from a type.
    public static let badShape = Self(rawValue: 13)
    /// Memory ran out.
    public static let noMemory = Self(rawValue: 20)
    /// A value is larger than its limit. Bodies and response heads have their own codes.
    public static let tooLarge = Self(rawValue: 21)
    /// A file operation failed.
    public static let file = Self(rawValue: 22)
    /// The process ran out of file descriptors.
    public static let descriptors = Self(rawValue: 23)
    /// A thread could not be started.
    public static let thread = Self(rawValue: 24)
    /// The queue of bytes to send is full.
    public static let queueFull = Self(rawValue: 25)
    /// The server's response is not valid HTTP.
    public static let badResponse = Self(rawValue: 40)
    /// The body's content coding is broken or unknown.
    public static let badCoding = Self(rawValue: 41)
    /// The response head is larger than its limit.
    public static let headTooLarge = Self(rawValue: 42)
    /// The response body is larger than its limit.
    public static let bodyTooLarge = Self(rawValue: 43)
    /// A redirect's Location is not usable.
    public static let badRedirect = Self(rawValue: 44)
    /// The text is not valid in its charset, or the charset is unknown.
    public static let badCharset = Self(rawValue: 45)
    /// The text is not valid JSON (RFC 8259).
    public static let badJSON = Self(rawValue: 46)
    /// The JSON does not have the expected shape.
    public static let shapeMismatch = Self(rawValue: 47)
    /// A downloaded file does not have the expected digest. The downloaded data is deleted.
    public static let digestMismatch = Self(rawValue: 48)
    /// The server sent a different range of the file than requested.
    public static let badRange = Self(rawValue: 49)
    /// The server refused the WebSocket handshake. ``NetError/response`` is its response.
    public static let upgradeRefused = Self(rawValue: 51)
    /// The server's WebSocket handshake is invalid.
    public static let badUpgrade = Self(rawValue: 52)
    /// A WebSocket frame violates the protocol.
    public static let badFrame = Self(rawValue: 53)
    /// A WebSocket text is not valid UTF-8.
    public static let badText = Self(rawValue: 54)
    /// A compressed WebSocket message is damaged.
    public static let badDeflate = Self(rawValue: 55)
    /// A WebSocket message is larger than its limit.
    public static let messageTooLarge = Self(rawValue: 56)
    /// The server sent too many useless WebSocket frames.
    public static let frameFlood = Self(rawValue: 57)
    /// The TLS handshake failed.
    public static let tlsHandshake = Self(rawValue: 80)
    /// No trusted authority signed the certificate.
    public static let tlsUntrusted = Self(rawValue: 81)
    /// The certificate has expired.
    public static let tlsExpired = Self(rawValue: 82)
    /// The certificate is not valid yet.
    public static let tlsNotYetValid = Self(rawValue: 83)
    /// The certificate is for another name.
    public static let tlsName = Self(rawValue: 84)
    /// The certificate was refused for another reason.
    public static let tlsCertificate = Self(rawValue: 85)
    /// The trusted authorities could not be read.
    public static let tlsRoots = Self(rawValue: 86)
    /// This libcurl has no OpenSSL backend, so trust cannot be checked.
    public static let tlsBackend = Self(rawValue: 87)
    /// The client's own certificate or its key cannot be used.
    public static let tlsIdentity = Self(rawValue: 88)
    /// No certificate of the chain matches a pin.
    public static let pinMismatch = Self(rawValue: 90)
    /// The policy refuses plain http to this host.
    public static let plaintextRefused = Self(rawValue: 91)
    /// The certificate was revoked.
    public static let tlsRevoked = Self(rawValue: 92)
    /// The server stapled no valid OCSP response with the status "good" (RFC 6066).
    public static let tlsStaple = Self(rawValue: 93)
    /// The host name could not be resolved.
    public static let resolve = Self(rawValue: 100)
    /// The connection could not be established.
    public static let connect = Self(rawValue: 101)
    /// The connection was refused.
    public static let refused = Self(rawValue: 102)
    /// The host cannot be reached.
    public static let unreachable = Self(rawValue: 103)
    /// The connection was reset.
    public static let reset = Self(rawValue: 104)
    /// The body ended before its announced length, its last chunk or its last frame.
    public static let cutShort = Self(rawValue: 105)
    /// The server closed the connection without a response.
    public static let emptyReply = Self(rawValue: 106)
    /// Sending failed.
    public static let send = Self(rawValue: 107)
    /// Receiving failed.
    public static let receive = Self(rawValue: 108)
    /// The HTTP/2 connection broke.
    public static let http2 = Self(rawValue: 109)
    /// The proxy could not be used. If it requires credentials for a tunnel, ``NetError/response`` is the 407 response.
    public static let proxy = Self(rawValue: 110)
    /// The HTTP/3 connection or stream failed.
    public static let http3 = Self(rawValue: 111)
    /// The authentication exchange failed, or a challenge hook failed it.
    public static let authentication = Self(rawValue: 89)
    /// Connecting took longer than its limit.
    public static let connectTimeout = Self(rawValue: 120)
    /// The first byte of the response took longer than its limit.
    public static let firstByteTimeout = Self(rawValue: 121)
    /// No bytes moved for longer than the idle limit.
    public static let idleTimeout = Self(rawValue: 122)
    /// The call took longer than its ``Request/timeout``.
    public static let timeout = Self(rawValue: 123)
    /// The wait for a connection slot, a concurrency limit or a rate limit is longer than allowed.
    public static let slotTimeout = Self(rawValue: 124)
    /// The WebSocket peer sent nothing within its limit.
    public static let peerTimeout = Self(rawValue: 125)
    /// The task or the transfer was cancelled.
    public static let cancelled = Self(rawValue: 150)
    /// A callback or a hook stopped the request, or a closure of the app threw an error that is not a ``NetError``.
    public static let stoppedByCaller = Self(rawValue: 151)
    /// There were more redirects than the limit.
    public static let tooManyRedirects = Self(rawValue: 152)
    /// The policy refuses this redirect.
    public static let redirectRefused = Self(rawValue: 153)
    /// The source of the request's body failed. ``NetError/underlying`` is the source's error.
    public static let bodySource = Self(rawValue: 155)
    /// An internal invariant failed; please report it.
    public static let `internal` = Self(rawValue: 199)
    /// The body is not what the request's decoding expects.
    public static let undecodable = Self(rawValue: 200)
    /// The request's value could not be encoded.
    public static let unencodable = Self(rawValue: 201)
    /// The status is not one that the request accepts.
    public static let unacceptableStatus = Self(rawValue: 202)
    /// The body's Content-Type is not one that the request accepts.
    public static let unacceptableType = Self(rawValue: 203)
    /// The host failed too often recently, so no request was sent.
    public static let circuitOpen = Self(rawValue: 204)

    /// A duplicate of this request is already in flight, and this request's policy is ``DuplicatePolicy/ignore``.
    /// Therefore this request was not sent. ``NetError/runningID`` is the number of the call in flight.
    public static let ignored = Self(rawValue: 205)
    /// A request that had to succeed first has failed, so this one was not sent. ``NetError/failedMember`` contains the
    /// earlier request's error.
    public static let earlierFailed = Self(rawValue: 206)
    /// The server closed the WebSocket with a code that is not an orderly end. ``NetError/nativeCode`` is that code.
    public static let closedByServer = Self(rawValue: 207)
    /// The request must not use a cellular connection, and the system would use one.
    public static let cellularRefused = Self(rawValue: 220)
    /// There is no route to the server now. The request was stored and will be sent later.
    public static let queued = Self(rawValue: 221)

    /// A page of a list links back to an earlier one.
    public static let pageRepeated = Self(rawValue: 210)

    /// The text is not well-formed XML, or references an entity that XML does not predefine. The message contains line
    /// and column.
    public static let badXML = Self(rawValue: 230)
    /// The body is not a readable image.
    public static let badImage = Self(rawValue: 231)

    /// A check refused the request's parameters; nothing was sent.
    public static let invalidParameters = Self(rawValue: 240)

    /// A check or the service refused the response.
    public static let invalidValue = Self(rawValue: 241)

    /// The request was not allowed to use the network, and the cache has no usable response. The reason is in
    /// ``Response/cache`` of ``NetError/response``.
    public static let notCached = Self(rawValue: 250)

    /// Whether the same request may succeed when it is sent again. True for temporary network errors and for exceeded
    /// time limits.
    package var isRetryable: Bool {
        (100...110).contains(rawValue) || (120...125).contains(rawValue)
    }

    /// The name of the constant, such as "firstByteTimeout". For an unknown code, the number.
    public var description: String {
        Self.names[rawValue] ?? "code \(rawValue)"
    }

    private static let names: [Int32: String] = [
        1: "usage", 2: "badURL", 3: "badMethod", 4: "badHeader", 5: "badScheme", 6: "unsupported", 7: "closed",
        8: "bodyLength", 9: "notRewindable", 10: "badParameter", 11: "badPart", 12: "badPin", 13: "badShape",
        20: "noMemory", 21: "tooLarge", 22: "file", 23: "descriptors", 24: "thread", 25: "queueFull",
        40: "badResponse", 41: "badCoding", 42: "headTooLarge", 43: "bodyTooLarge", 44: "badRedirect",
        45: "badCharset", 46: "badJSON", 47: "shapeMismatch", 48: "digestMismatch", 49: "badRange",
        51: "upgradeRefused", 52: "badUpgrade", 53: "badFrame", 54: "badText", 55: "badDeflate",
        56: "messageTooLarge", 57: "frameFlood",
        80: "tlsHandshake", 81: "tlsUntrusted", 82: "tlsExpired", 83: "tlsNotYetValid", 84: "tlsName",
        85: "tlsCertificate", 86: "tlsRoots", 87: "tlsBackend", 88: "tlsIdentity",
        90: "pinMismatch", 91: "plaintextRefused", 92: "tlsRevoked", 93: "tlsStaple",
        100: "resolve", 101: "connect", 102: "refused", 103: "unreachable", 104: "reset", 105: "cutShort",
        106: "emptyReply", 107: "send", 108: "receive", 109: "http2", 110: "proxy", 111: "http3", 89: "authentication",
        120: "connectTimeout", 121: "firstByteTimeout", 122: "idleTimeout", 123: "timeout",
        124: "slotTimeout", 125: "peerTimeout",
        150: "cancelled", 151: "stoppedByCaller", 152: "tooManyRedirects", 153: "redirectRefused",
        155: "bodySource", 199: "internal",
        200: "undecodable", 201: "unencodable", 202: "unacceptableStatus", 203: "unacceptableType",
        204: "circuitOpen", 205: "ignored", 206: "earlierFailed", 207: "closedByServer", 210: "pageRepeated",
        220: "cellularRefused",
        221: "queued", 230: "badXML", 231: "badImage", 240: "invalidParameters",
        241: "invalidValue", 250: "notCached",
    ]
}
