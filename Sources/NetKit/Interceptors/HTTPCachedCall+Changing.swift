extension HTTPCachedCall {
    /// Lets a request change what it changes, and takes what is stored of that out of reach (RFC 9111, 4.4).
    func changing() async throws(NetError) -> Answer {
        var look = await side.look(at: caching.now)
        let sent = caching.now
        let answer: Answer
        do throws(NetError) {
            answer = try await next(call)
        } catch {
            // Whatever became of the rest, a head has told that something was changed.
            let status = error.response?.status ?? error.metrics.last?.status ?? 0
            await forget(status, error.response?.headers ?? [:], error.metrics)
            throw error
        }
        await forget(answer.status, answer.headers, answer.metrics)
        guard request.method == .post, (200..<400).contains(answer.status) else { return answer }
        look.begun = caching.changes.begin()  // It is what its own change has made.
        return await plain.storing(answer, look, asked: sent)
    }

    private func forget(_ status: Int, _ headers: Headers, _ hops: Metrics) async {
        for url in request.changedURLs(status, headers, hops) {
            await side.forget(url)
        }
    }
}

extension Request {
    /// What a request that changes something has changed: the URLs that it and its redirects were sent to and that
    /// answered with no error, and those that these answers named at their own origin.
    ///
    /// - Parameters:
    ///   - status: that of the last answer; 0 when none came.
    ///   - headers: those of the last answer.
    ///   - hops: its way; none is a way of one hop.
    fileprivate func changedURLs(_ status: Int, _ headers: Headers, _ hops: Metrics) -> [String] {
        var (asked, method) = (url, method)
        var urls: [String] = []
        for (hop, next) in zip(hops, hops.dropFirst()) {
            if hop.isSuccess {
                urls.append(asked)
                // It is what Location has named.
                if next.url.hasSameOrigin(as: asked) {
                    urls.append(next.url)
                }
            }
            if RedirectStep.becomesGet(method, hop.status) {
                method = .get
            }
            // A GET changes nothing, and neither does what follows upon it.
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
