/// A type that sends requests and returns responses. The engine is one; tests and applications can provide others.
public protocol Transport: Sendable {
    /// Sends a request. Its URL is absolute, and its limits and redirect policy are set. If it has no trust policy,
    /// that of the transport applies.
    ///
    /// Returns a response with any status. Throws ``NetError/Code/cancelled`` soon after the task is cancelled.
    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes>

    /// Sends a request like ``send(_:)``, but returns when the response head has arrived. The body is read from the
    /// stream.
    ///
    /// The default implementation waits for the whole response and returns its body as one chunk.
    func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream

    /// Refuses further requests, and returns when all requests in flight have ended.
    func shutdown() async
}

extension Transport {
    /// Returns the whole response as a stream with one chunk.
    public func stream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        ResponseStream(try await send(request))
    }
}

/// Controls the transfers and cookies of an agent. Transports that have a transfer queue and a cookie jar implement it.
protocol TransferControl: Sendable {
    func setSuspended(_ isSuspended: Bool)
    func setPriority(_ priority: Priority, of id: UInt64)
    func cancel(_ id: UInt64)
    func pause(_ id: UInt64)
    func resume(_ id: UInt64)
    func transfers() -> [TransferInfo]
    func setTrust(_ policy: TrustPolicy) throws(NetError)
    func cookies() async throws(NetError) -> [Cookie]
    /// Returns a snapshot of the cookie jar. Cookies may distinguish users, so requests are compared by the cookies
    /// that they would send.
    func cookieSnapshot() throws(NetError) -> any CookieSnapshot
    func setCookies(_ cookies: [Cookie]) throws(NetError)
    func clearCookies() throws(NetError)
}

/// A snapshot of the cookies in a jar. Values are bytes, because they need not be UTF-8.
protocol CookieSnapshot: Sendable {
    /// Returns the cookies that may be sent to any of these hosts, sorted, as bytes.
    func shown(to hosts: Set<String>) throws(NetError) -> [[UInt8]]
}

/// Receives the events of one call's transfers for the call's observers. Its closures are called on the event loop
/// thread.
final class TransferObserver: Sendable {
    /// Called when a transfer has begun, with its number.
    let began: @Sendable (UInt64) -> Void
    /// Called for each response head. The flag is false for the head of a redirect that is followed.
    let headArrived: @Sendable (ResponseHead, Bool) -> Void
    /// Called when a download continues an earlier one, with its offset and total; see ``Event/Change``.
    let downloadResumed: @Sendable (Int, Int?) -> Void

    init(
        began: @escaping @Sendable (UInt64) -> Void, headArrived: @escaping @Sendable (ResponseHead, Bool) -> Void,
        downloadResumed: @escaping @Sendable (Int, Int?) -> Void
    ) {
        self.began = began
        self.headArrived = headArrived
        self.downloadResumed = downloadResumed
    }
}

extension Request {
    /// The observer of the request's transfers.
    var transferObserver: TransferObserver? {
        get { callSettings?.value.transferObserver }
        set { settings.transferObserver = newValue }
    }
}

/// A transport that can open WebSockets.
package protocol WebSocketTransport: Transport {
    /// Opens a WebSocket. The request has an http or https URL, and is complete as for ``Transport/send(_:)``.
    ///
    /// Returns the response to the handshake with any status.
    func openWebSocket(
        _ request: Request<Bytes>, _ options: WebSocket.Options
    ) async throws(NetError) -> WebSocketHandshake
}

/// The address family of connections to servers and proxies.
public enum AddressFamily: Sendable, Hashable {
    /// IPv6 or IPv4. Both are tried, and the first connection that succeeds is used (RFC 8305).
    case any
    /// IPv4 only.
    case ipv4
    /// IPv6 only.
    case ipv6
}

/// The netrc file that supplies credentials for requests that set none.
public enum NetrcSource: Sendable, Hashable {
    /// No file.
    case off
    /// The file `~/.netrc`.
    case home
    /// The file at this path.
    case file(String)
}

/// Whether and where an agent stores data that servers set, such as cookies.
public enum StatePersistence: Sendable, Hashable {
    /// The data is not stored.
    case off
    /// The data is stored in memory, for the lifetime of the agent.
    case memory
    /// The data is stored in a file, which later agents can load. The file is created if it does not exist. A relative
    /// path is resolved when the agent is created. If saving fails, ``AgentEvent/saveFailed(_:)`` is reported.
    case file(String)
}
