/// The handling of redirects (RFC 9110, 15.4).
public enum RedirectPolicy: Sendable, Hashable {
    /// The policy of the service, or else that of the agent. For an agent, the same as ``follow``.
    case inherited
    /// Follows redirects, except from https to http.
    case follow
    /// Follows redirects, including those from https to http.
    case followDowngrades
    /// Returns the redirect as the response. If the request's accepted statuses are ``StatusSet/automatic``, those from
    /// 300 to 399 are accepted too. The body of a redirect is checked and decoded like that of any other response, so a
    /// request for a JSON value then usually fails with ``NetError/Code/contentType``.
    case `return`

    /// Returns this policy, or `outer` if this one is ``inherited``.
    func over(_ outer: RedirectPolicy) -> RedirectPolicy { self == .inherited ? outer : self }
}

/// How a request uses the agent's cookie jar. If the agent has no cookie jar, the policy has no effect.
/// A `Cookie` field that the request itself sets is always sent.
public enum CookiePolicy: Sendable, Hashable {
    /// Sends matching cookies and stores those of the response.
    case sendAndStore
    /// Sends matching cookies from the jar. Ignores the cookies of responses: a cookie that a redirect sets is not sent
    /// to the redirect's target either.
    case sendOnly
    /// Sends no cookie. Stores the cookies of the response, which may also remove cookies from the jar.
    case storeOnly
    /// Sends and stores no cookie.
    case ignore

    /// Whether cookies are sent.
    package var sends: Bool { self == .sendAndStore || self == .sendOnly }
    /// Whether cookies are stored.
    package var stores: Bool { self == .sendAndStore || self == .storeOnly }
}

/// The HTTP version to use.
public enum HTTPVersionPolicy: Sendable, Hashable {
    /// The version of ``Agent/Configuration/httpVersionPolicy``. By default HTTP/2 over TLS if the server agrees by
    /// ALPN, otherwise HTTP/1.1. A request whose URL and headers together exceed 48 KiB uses HTTP/1.1.
    case automatic
    /// HTTP/1.0 only.
    case http1_0
    /// HTTP/1.1 only.
    case http1
    /// HTTP/2 over plain TCP with prior knowledge (RFC 9113, 3.3). For an https URL it is the same as ``automatic``, so
    /// ALPN may select HTTP/1.1.
    /// A request with URL and headers over 48 KiB fails with ``NetError/Code/tooLarge``. Without TLS, a response body
    /// without `Content-Length` fails with ``NetError/Code/cutShort``, because it may be incomplete.
    case http2PriorKnowledge
    /// HTTP/3 if QUIC connects before TCP, otherwise the same as ``automatic``. TCP starts at most 200 ms later, and at
    /// the same time if the origin is not known to have HTTP/3. If TCP wins, QUIC is not tried for five minutes.
    case http3IfPossible
    /// HTTP/3 only. The request fails with ``NetError/Code/unsupported`` if libcurl has no HTTP/3, and for http URLs and
    /// proxies.
    case http3Only
}

/// The order in which waiting requests start. Requests wait if the largest number of transfers is in flight.
public enum Priority: Sendable, Hashable {
    /// Starts before waiting requests with other priorities.
    case high
    /// Starts after high and before low priority.
    case normal
    /// Starts when no request with another priority waits.
    case low
}

/// The DSCP service class of a request's packets (RFC 2474). Routers may ignore it, and most networks ignore the class
/// of packets from other operators.
/// Requests with different classes use different connections.
public enum ServiceClass: Sendable, Hashable {
    /// Background traffic: CS1, 8 (RFC 4594, 4.10). RFC 8622 defines LE, `dscp(1)`, as an alternative.
    case background
    /// Signalling: CS5, 40 (RFC 4594, 4.2).
    case signalling
    /// Data that a user waits for: AF21, 18 (RFC 4594, 4.7).
    case responsiveData
    /// Multimedia streaming: AF31, 26 (RFC 4594, 4.5).
    case video
    /// Telephony: EF, 46 (RFC 3246).
    case voice
    /// A code point from 0 to 63. 0 is the default class; it overrides the agent's class. A request with a larger
    /// number fails with ``NetError/Code/usage``.
    case dscp(UInt8)
}

extension ServiceClass {
    /// The code point.
    package var codePoint: UInt8 {
        switch self {
        case .background: 8
        case .signalling: 40
        case .responsiveData: 18
        case .video: 26
        case .voice: 46
        case .dscp(let codePoint): codePoint
        }
    }

    /// Creates a class from its number from 1 to 63, or from its name in tc and iptables: "ef", "le", "cs1" to "cs7",
    /// "af11" to "af43". Names are case-insensitive.
    package init?(name: String) {
        let name = name.lowercased()
        if let number = UInt8(name) {
            guard (1...63).contains(number) else { return nil }
            self = .dscp(number)
            return
        }
        let digits = name.dropFirst(2).utf8.map { Int($0) - 48 }
        switch (name.prefix(2), digits.count) {
        case ("ef", 0): self = .voice
        case ("le", 0): self = .dscp(1)
        case ("cs", 1) where (1...7).contains(digits[0]): self = .dscp(UInt8(digits[0] * 8))
        case ("af", 2) where (1...4).contains(digits[0]) && (1...3).contains(digits[1]):
            self = .dscp(UInt8(digits[0] * 8 + digits[1] * 2))
        default: return nil
        }
    }
}

/// Connects to a different host or port from the one in the URL. The `Host` field, SNI and certificate checks still use
/// the host in the URL.
public struct AddressOverride: Sendable, Hashable {
    package var host: String?
    package var port: UInt16?
    package var toHost: String?
    package var toPort: UInt16?

    /// Creates an override.
    ///
    /// - Parameters:
    ///   - host: the host of the URLs that this override applies to. If `nil`, it applies to any host.
    ///   - port: the port of the URLs that this override applies to. If `nil`, it applies to any port.
    ///   - toHost: the host or numeric address to connect to. If `nil`, the URL's host is used.
    ///   - toPort: the port to connect to. If `nil`, the URL's port is used.
    public init(host: String? = nil, port: UInt16? = nil, toHost: String? = nil, toPort: UInt16? = nil) {
        self.host = host
        self.port = port
        self.toHost = toHost
        self.toPort = toPort
    }
}
