extension Agent {
    /// Sends a request and returns as soon as the final head is there; the body is read from the stream, in bounded
    /// memory. Every status is an answer: the stream tells it.
    ///
    ///     for try await chunk in try await agent.stream(Request<Bytes>("large")) { … }
    ///
    /// Without limits of its own the request gets ``Configuration/streamLimits``.
    public func stream(_ request: Request<some Sendable>) async throws(NetError) -> ResponseStream {
        let request = try completed(request, limits: configuration.streamLimits)
        do throws(NetError) {
            let stream = try await openStream(request)
            if control == nil {
                request.progress?(.over)
            }
            return stream
        } catch {
            request.progress?(.over)
            throw error
        }
    }

    private func openStream(_ request: Request<Bytes>) async throws(NetError) -> ResponseStream {
        try checkCancellation()
        guard let handler = configuration.challengeHandler else { return try await transport.stream(request) }
        var rounds = ChallengeRounds(request, configuration: configuration, handler: handler)
        while true {
            let stream = try await transport.stream(rounds.request)
            let head = Response<Bytes>(
                status: stream.status, headers: stream.headers, metrics: Metrics([stream.hop]))
            guard try await rounds.mayTryAgain(after: head) else { return stream }
            stream.supersede()
            try checkCancellation()
        }
    }

    /// Saves the response's body to a file: it appears whole or not at all, and replaces one that was there.
    ///
    /// Another status than 200 to 299 throws ``NetError/Code/unacceptableStatus`` with the response, whatever the
    /// request accepts, and leaves the file as it was. Without limits of its own the request gets
    /// ``Configuration/streamLimits``.
    public func save(
        _ request: Request<some Sendable>, to path: String
    ) async throws(NetError) -> Response<SavedFile> {
        var request = try completed(request, limits: configuration.streamLimits)
        if path.isEmpty {
            throw NetError(.usage, "the path of the file to save to is empty")
        }
        request.savePath = path
        let received = try await answer(to: request)
        guard (200..<300).contains(received.status) else {
            throw NetError(unacceptable: received)
        }
        return received.map { SavedFile(path: path, byteCount: $0.metrics.last?.decodedBytes ?? 0) }
    }
}

extension ResponseStream {
    fileprivate var hop: HopMetrics {
        var hop = HopMetrics()
        hop.url = url
        hop.status = status
        hop.httpVersion = httpVersion
        return hop
    }
}
