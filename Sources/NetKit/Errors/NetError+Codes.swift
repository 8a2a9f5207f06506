extension NetError {
    /// The kind of failure. The C core defines the numbers below 200, NetKit those from 200 on: usage 1–19, resources
    /// 20–39, format 40–79, trust 80–99, network 100–149, control 150–199.
    ///
    /// A later version may add codes; a `switch` needs a default.
    #if hasAttribute(nonexhaustive)
    @nonexhaustive
    #endif
    public enum Code: Int32, Sendable, CaseIterable {
        /// An argument is missing or out of range.
        case usage = 1
        /// The URL is malformed.
        case badURL = 2
        /// The method is not a token (RFC 9110, 9.1).
        case badMethod = 3
        /// A header name or value contains a forbidden character.
        case badHeader = 4
        /// The URL's scheme is not http or https.
        case badScheme = 5
        /// The underlying libraries do not support this.
        case unsupported = 6
        /// The agent was shut down, or the WebSocket is closed.
        case closed = 7
        /// The request's body does not have the announced length.
        case bodyLength = 8
        /// The request's body cannot be sent a second time.
        case notRewindable = 9
        /// A parameter cannot be encoded.
        case badParameter = 10
        /// A part of the multipart body cannot be sent.
        case badPart = 11
        /// A pin or a host pattern is malformed.
        case badPin = 12
        /// A ``JSONShape`` is invalid, or cannot be derived from a type.
        case badShape = 13
        /// Memory ran out.
        case noMemory = 20
        /// A value is larger than its limit. Bodies and response heads have their own codes.
        case tooLarge = 21
        /// A file operation failed.
        case file = 22
        /// The process ran out of file descriptors.
        case descriptors = 23
        /// A thread could not be started.
        case thread = 24
        /// The queue of bytes to send is full.
        case queueFull = 25
        /// The server's response is not valid HTTP.
        case badResponse = 40
        /// The body's content coding is broken or unknown.
        case badCoding = 41
        /// The response head is larger than its limit.
        case headTooLarge = 42
        /// The response body is larger than its limit.
        case bodyTooLarge = 43
        /// A redirect's Location is not usable.
        case badRedirect = 44
        /// The text is not valid in its charset, or the charset is unknown.
        case badCharset = 45
        /// The text is not valid JSON (RFC 8259).
        case badJSON = 46
        /// The JSON does not have the expected shape.
        case shapeMismatch = 47
        /// A downloaded file does not have the expected digest. The downloaded data is deleted.
        case digestMismatch = 48
        /// The server sent a different range of the file than requested.
        case badRange = 49
        /// The server refused the WebSocket handshake. ``NetError/response`` is its response.
        case upgradeRefused = 51
        /// The server's WebSocket handshake is invalid.
        case badUpgrade = 52
        /// A WebSocket frame violates the protocol.
        case badFrame = 53
        /// A WebSocket text is not valid UTF-8.
        case badText = 54
        /// A compressed WebSocket message is damaged.
        case badDeflate = 55
        /// A WebSocket message is larger than its limit.
        case messageTooLarge = 56
        /// The server sent too many useless WebSocket frames.
        case frameFlood = 57
        /// The TLS handshake failed.
        case tlsHandshake = 80
        /// No trusted authority signed the certificate.
        case tlsUntrusted = 81
        /// The certificate has expired.
        case tlsExpired = 82
        /// The certificate is not valid yet.
        case tlsNotYetValid = 83
        /// The certificate is for another name.
        case tlsName = 84
        /// The certificate was refused for another reason.
        case tlsCertificate = 85
        /// The trusted authorities could not be read.
        case tlsRoots = 86
        /// This libcurl has no OpenSSL backend, so trust cannot be checked.
        case tlsBackend = 87
        /// The client's own certificate or its key cannot be used.
        case tlsIdentity = 88
        /// No certificate of the chain matches a pin.
        case pinMismatch = 90
        /// The policy refuses plain http to this host.
        case plaintextRefused = 91
        /// The certificate was revoked.
        case tlsRevoked = 92
        /// The server stapled no valid OCSP response with the status "good" (RFC 6066).
        case tlsStaple = 93
        /// The host name could not be resolved.
        case resolve = 100
        /// The connection could not be established.
        case connect = 101
        /// The connection was refused.
        case refused = 102
        /// The host cannot be reached.
        case unreachable = 103
        /// The connection was reset.
        case reset = 104
        /// The body ended before its announced length, its last chunk or its last frame.
        case cutShort = 105
        /// The server closed the connection without a response.
        case emptyReply = 106
        /// Sending failed.
        case send = 107
        /// Receiving failed.
        case receive = 108
        /// The HTTP/2 connection broke.
        case http2 = 109
        /// The proxy could not be used. If it requires credentials for a tunnel, ``NetError/response`` is the 407 response.
        case proxy = 110
        /// The HTTP/3 connection or stream failed.
        case http3 = 111
        /// The authentication exchange failed, or a challenge hook failed it.
        case authentication = 89
        /// Connecting took longer than its limit.
        case connectTimeout = 120
        /// The first byte of the response took longer than its limit.
        case firstByteTimeout = 121
        /// No bytes moved for longer than the idle limit.
        case idleTimeout = 122
        /// The call took longer than its ``Request/timeout``.
        case timeout = 123
        /// The wait for a connection slot, a concurrency limit or a rate limit is longer than allowed.
        case slotTimeout = 124
        /// The WebSocket peer sent nothing within its limit.
        case peerTimeout = 125
        /// The task or the transfer was cancelled.
        case cancelled = 150
        /// A callback or a hook stopped the request, or a closure of the app threw an error that is not a ``NetError``.
        case stoppedByCaller = 151
        /// There were more redirects than the limit.
        case tooManyRedirects = 152
        /// The policy refuses this redirect.
        case redirectRefused = 153
        /// The source of the request's body failed. ``NetError/underlying`` is the source's error.
        case bodySource = 155
        /// An internal invariant failed; please report it.
        case `internal` = 199
        /// The body is not what the request's decoding expects.
        case decoding = 200
        /// The request's value could not be encoded.
        case encoding = 201
        /// The status is not one that the request accepts.
        case status = 202
        /// The body's Content-Type is not one that the request accepts.
        case contentType = 203
        /// The host failed too often recently, so no request was sent.
        case circuitOpen = 204

        /// A duplicate of this request is already in flight, and this request's policy is ``DuplicatePolicy/ignore``.
        /// Therefore this request was not sent. ``NetError/runningID`` is the number of the call in flight.
        case ignored = 205
        /// A request that had to succeed first has failed, so this one was not sent. ``NetError/failedMember`` contains the
        /// earlier request's error.
        case earlierFailed = 206
        /// The server closed the WebSocket with a code that is not an orderly end. ``NetError/nativeCode`` is that code.
        case closedByServer = 207
        /// The request must not use a cellular connection, and the system would use one.
        case cellularRefused = 220
        /// There is no route to the server now. The request was stored and will be sent later.
        case queued = 221

        /// A page of a list links back to an earlier one.
        case pageRepeated = 210

        /// The text is not well-formed XML, or references an entity that XML does not predefine. The message contains line
        /// and column.
        case badXML = 230
        /// The body is not a readable image.
        case badImage = 231

        /// A check refused the request's parameters; nothing was sent.
        case invalidParameters = 240

        /// A check or the service refused the response.
        case invalidValue = 241

        /// The request was not allowed to use the network, and the cache has no usable response. The reason is in
        /// ``Response/cache`` of ``NetError/response``.
        case notCached = 250
    }
}

extension NetError.Code {
    /// Whether the same request may succeed when it is sent again. True for temporary network errors and for exceeded
    /// time limits.
    package var isRetryable: Bool {
        (100...110).contains(rawValue) || (120...125).contains(rawValue)
    }
}
