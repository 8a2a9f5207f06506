extension Request<Bytes> {
    /// Returns the request of the last hop, after redirects that a transport has followed. Only that hop may be sent
    /// again, because the earlier servers have acted on theirs.
    func led(along hops: Metrics) -> Request<Bytes> {
        guard hops.count > 1 else { return self }
        var last = self
        last.redirects = .followDowngrades  // Following them was decided already.
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
    /// The URL as it was requested: https instead of http after an HSTS upgrade.
    ///
    /// - Parameter first: the URL of the first hop.
    func secured(as first: String?) -> String {
        guard let first, hasScheme("http"), first.hasScheme("https"), hostName == first.hostName else { return self }
        return first.withUserinfo(of: self)
    }

    func hasScheme(_ scheme: String) -> Bool {
        prefix { $0 != ":" }.lowercased() == scheme
    }
}
