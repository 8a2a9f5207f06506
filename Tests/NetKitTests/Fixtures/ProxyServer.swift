import CNetTesting

/// The proxy of CNetTesting, for one test. It stops when it is deallocated.
@safe final class ProxyServer: Sendable {
    enum Kind: Sendable {
        case http, socks5
    }

    // SAFETY: nettesting/proxy.h: every function called here is thread-safe. `stop` is called once, in `deinit`.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let kind: Kind

    /// - Parameter user: The required user name. Requests without it and the password are refused.
    init(_ kind: Kind = .http, user: String? = nil, password: String = "") throws {
        var made: OpaquePointer?
        let status = unsafe (user ?? "").withCString { name in
            unsafe password.withCString { password in
                var options = unsafe nct_proxy_options()
                unsafe options.kind = kind == .http ? .NCT_PROXY_HTTP : .NCT_PROXY_SOCKS5
                unsafe options.user = user == nil ? nil : name
                unsafe options.password = password
                return unsafe nct_proxy_start(&made, &options)
            }
        }
        guard status == 0, let made = unsafe made else { throw LoopbackServer.Failure.notStarted(status) }
        unsafe raw = made
        self.kind = kind
    }

    deinit {
        unsafe nct_proxy_stop(raw)
    }

    var url: String { "\(kind == .http ? "http" : "socks5h")://127.0.0.1:\(unsafe nct_proxy_port(raw))" }

    var requestCount: Int { unsafe nct_proxy_request_count(raw) }

    var tunnelCount: Int { unsafe nct_proxy_tunnel_count(raw) }

    /// Returns the head of a request.
    func received(_ index: Int = 0) -> ReceivedRequest {
        let length = unsafe nct_proxy_copy_request(raw, index, nil, 0)
        return ReceivedRequest(
            // With a capacity of 0, this would be the shared empty array. The initializer writes to it, which the thread
            // sanitizer reports.
            unsafe [UInt8](unsafeUninitializedCapacity: max(1, length)) { buffer, count in
                count = unsafe min(length, nct_proxy_copy_request(raw, index, buffer.baseAddress, length))
            })
    }
}
