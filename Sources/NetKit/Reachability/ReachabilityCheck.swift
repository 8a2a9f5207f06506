/// Fails a call immediately if its host is unreachable, as the checks of HZYNetwork and CTNetworking do.
///
///     configuration.interceptors = [ReachabilityCheck(reachability), Retry()]
///
/// The error is ``NetError/Code/unreachable``, and nothing is sent. A call fails only if the system has no route to its
/// host. It continues in these cases:
/// - the state is unknown
/// - the host is this machine, or is reached over a Unix socket or an unknown proxy
/// - the host is on the local network, even without a path to the internet
/// - the request has ``Request/waitsForConnectivity`` set; it then waits
public struct ReachabilityCheck: Interceptor {
    private let reachability: Reachability
    private let proxy: Proxy?

    /// - Parameters:
    ///   - reachability: the source of the state.
    ///   - proxy: the agent's proxy, for requests without their own.
    public init(_ reachability: Reachability, proxy: Proxy? = nil) {
        self.reachability = reachability
        self.proxy = proxy
    }

    /// Continues the call, or fails it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if !call.request.waitsForConnectivity,
            let host = await reachability.unreachedHost(of: call.request, proxy: proxy)
        {
            throw NetError(.unreachable, "there is no way to \(host)")
        }
        return try await next(call)
    }
}
