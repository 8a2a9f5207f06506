extension Agent {
    /// Sends a request and returns as soon as the final head is there; the body is read from the stream, in bounded
    /// memory. Every status and every type is an answer, whatever the request accepts: the stream tells them.
    ///
    ///     for try await chunk in try await agent.stream(Request<Bytes>("large")) { … }
    ///
    /// Without limits of its own the request gets ``Configuration/streamLimits``.
    public func stream(_ request: Request<some Sendable>) async throws(NetError) -> ResponseStream {
        let groups = [flights.group] + [request.completionGroup].compactMap { $0 }
        try enter(request)
        groups.dropFirst().forEach { $0.enter() }
        do throws(NetError) {
            let stream = isBare(request) ? try await bareStream(request) : try await streamThroughChain(request)
            return stream.replaced(by: CountedChunks(stream, in: groups))
        } catch {
            groups.forEach { $0.leave() }
            throw error
        }
    }

    private func bareStream(_ request: Request<some Sendable>) async throws(NetError) -> ResponseStream {
        let request = try completedOrOver(request, limits: streamLimits)
        do throws(NetError) {
            let stream = try await exchange.stream(request)
            if control == nil {
                request.progress?(.over)
            }
            return stream
        } catch {
            request.progress?(.over)
            throw error
        }
    }

    /// Saves the response's body to a file: it appears whole or not at all, and replaces one that was there. It gets
    /// the permissions of that, and its owner where the system allows it; a file that may not be written is
    /// ``NetError/Code/file``.
    ///
    /// Another status than 200 to 299 throws ``NetError/Code/unacceptableStatus`` with the response, whatever the
    /// request accepts, and leaves the file as it was. Without limits of its own the request gets
    /// ``Configuration/streamLimits``. The file comes from the network, never from a cache (``Caching``), and is stored in
    /// none: send or stream the request for that.
    public func save(
        _ request: Request<some Sendable>, to path: String
    ) async throws(NetError) -> Response<SavedFile> {
        try enter(request)
        defer { flights.group.leave() }
        guard isBare(request), !request.refusesSomeHeads else {
            return try await saveThroughChain(request, to: path)
        }
        let received = try await answer(to: try saving(request, to: path))
        guard (200..<300).contains(received.status) else {
            throw NetError(unacceptable: received)
        }
        try request.checkHead(received, types: nil)
        return received.map { SavedFile(path: path, byteCount: $0.metrics.last?.decodedBytes ?? 0) }
    }

    /// The request as the transport is to save it.
    func saving(_ request: Request<some Sendable>, to path: String) throws(NetError) -> Request<Bytes> {
        do throws(NetError) {
            var request = try completed(request, limits: streamLimits)
            request.savePath = try Self.checkedPath(path)
            return request
        } catch {
            request.progress?(.over)
            throw error
        }
    }

    static func checkedPath(_ path: String) throws(NetError) -> String {
        if path.isEmpty {
            throw NetError(.usage, "the path of the file to save to is empty")
        }
        return path
    }
}
