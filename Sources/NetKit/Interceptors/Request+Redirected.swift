extension Request<Bytes> {
    /// What redirects that a transport has followed made of it: what to send again for the last hop alone, as the server
    /// that led on has acted on the first.
    func led(along hops: Metrics) -> Request<Bytes> {
        guard hops.count > 1 else { return self }
        var last = self
        last.redirects = .followDowngrades  // Whether they were to be followed was decided.
        for (hop, next) in zip(hops, hops.dropFirst()) {
            let head = ResponseHead(status: hop.status, headers: ["Location": next.url], url: hop.url)
            guard let step = try? RedirectStep(head, after: last, policy: .followDowngrades, count: 0) else {
                return self
            }
            last = step.next
        }
        last.redirects = redirects
        last.limits?.maxRedirects -= hops.count - 1
        return last
    }
}

extension String {
    /// The URL as it was asked: over https in place of http where a host is asked so alone (HSTS).
    ///
    /// - Parameter first: the URL of the first hop, which tells.
    func secured(as first: String?) -> String {
        guard let first, hasScheme("http"), first.hasScheme("https"), hostName == first.hostName else { return self }
        return first.withUserinfo(of: self)
    }

    func hasScheme(_ scheme: String) -> Bool {
        prefix { $0 != ":" }.lowercased() == scheme
    }
}
