/// Fails a call at once while there is no way to its host, as HZYNetwork's and CTNetworking's checks before a call do.
///
///     configuration.interceptors = [ReachabilityCheck(reachability), Retry()]
///
/// The error is ``NetError/Code/unreachable``, and nothing was sent. A call is vetoed only when the system itself has no
/// route to its host: while nobody knows, for this machine itself, over a Unix socket or an unknown proxy, and for a
/// host on the local network without a way to the internet it goes on. A request that ``Request/waitsForConnectivity``
/// goes on, too, and waits.
public struct ReachabilityCheck: Interceptor {
    private let reachability: Reachability
    private let proxy: Proxy?

    /// - Parameters:
    ///   - reachability: tells whether there is a way.
    ///   - proxy: that of the agent, for requests that bring none.
    public init(_ reachability: Reachability, proxy: Proxy? = nil) {
        self.reachability = reachability
        self.proxy = proxy
    }

    /// Lets the call go on, or fails it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        if !call.request.waitsForConnectivity,
            let host = await reachability.unreachedHost(of: call.request, proxy: proxy)
        {
            throw NetError(.unreachable, "there is no way to \(host)")
        }
        return try await next(call)
    }
}
