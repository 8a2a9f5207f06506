extension Agent {
    /// Sends a request and returns the final response head with a stream of its body. Memory use is bounded. Every
    /// status and every content type is accepted, even if the request accepts fewer; check them on the stream.
    ///
    ///     for try await chunk in try await agent.stream(Request<Bytes>("large")) { … }
    ///
    /// A request without limits gets ``Configuration/streamLimits``.
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

    /// Saves the response's body to a file. The file appears when it is complete and replaces an existing one. It gets
    /// the permissions of that file, and its owner if the system allows it. A file that is not writable throws
    /// ``NetError/Code/file``.
    ///
    /// A status other than 200 to 299 throws ``NetError/Code/unacceptableStatus`` with the response, even if the
    /// request accepts it, and leaves the file unchanged. A request without limits gets ``Configuration/streamLimits``.
    /// The body always comes from the network and is never stored in a cache (``Caching``). To use the cache, send or
    /// stream the request.
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

    /// Returns the request with the destination for the transport.
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
