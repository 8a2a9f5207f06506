extension HTTPCachedCall {
    /// Sends a request whose method is not safe, and invalidates the stored responses that it affects (RFC 9111, 4.4).
    func changing() async throws(NetError) -> Answer {
        var look = await side.look(at: caching.now)
        let sent = caching.now
        let answer: Answer
        do throws(NetError) {
            answer = try await next(call)
        } catch {
            // An error after the head: the status shows that something was changed.
            let status = error.response?.status ?? error.metrics.last?.status ?? 0
            await forget(status, error.response?.headers ?? [:], error.metrics)
            throw error
        }
        await forget(answer.status, answer.headers, answer.metrics)
        guard request.method == .post, (200..<400).contains(answer.status) else { return answer }
        look.begun = caching.changes.begin()  // Its own change produced it.
        return await plain.storing(answer, look, asked: sent)
    }

    private func forget(_ status: Int, _ headers: Headers, _ hops: Metrics) async {
        for url in request.changedURLs(status, headers, hops) {
            await side.forget(url)
        }
    }
}

extension Request {
    /// Returns the URLs that a request has changed: those of the hops with a successful response, and those that the
    /// responses name at their own origin.
    ///
    /// - Parameters:
    ///   - status: the status of the last response; 0 without one.
    ///   - headers: the fields of the last response.
    ///   - hops: its hops; empty stands for one hop.
    fileprivate func changedURLs(_ status: Int, _ headers: Headers, _ hops: Metrics) -> [String] {
        var (asked, method) = (url, method)
        var urls: [String] = []
        for (hop, next) in zip(hops, hops.dropFirst()) {
            if hop.isSuccess {
                urls.append(asked)
                // The URL in Location.
                if next.url.hasSameOrigin(as: asked) {
                    urls.append(next.url)
                }
            }
            if RedirectStep.becomesGet(method, hop.status) {
                method = .get
            }
            // A GET changes nothing, and neither do the hops after it.
            if method.isSafe {
                return urls
            }
            asked = next.url
        }
        guard (200..<400).contains(status) else { return urls }
        urls.append(asked)
        for name in ["Location", "Content-Location"] {
            if let reference = headers.reference(name), let named = try? resolveReference(reference, at: asked),
                named.hasSameOrigin(as: asked)
            {
                urls.append(named)
            }
        }
        return urls
    }
}

extension HopMetrics {
    fileprivate var isSuccess: Bool { (200..<400).contains(status) }
}
