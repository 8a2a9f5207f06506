#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

/// One transfer of a ``StubTransport``. It follows redirects and reads the bodies.
final class StubExchange: Sendable {
    private let request: Request<Bytes>
    private let number: Int
    private let transport: StubTransport
    private let opensSocket: Bool
    private let isOver = Watched(false)

    /// - Parameters:
    ///   - number: the number of the transfer, unique in the transport.
    ///   - opensSocket: whether the transfer opens a WebSocket.
    init(_ request: Request<Bytes>, number: Int, with transport: StubTransport, opensSocket: Bool = false) {
        self.request = request
        self.opensSocket = opensSocket
        self.number = number
        self.transport = transport
    }

    deinit {
        end()
    }

    /// Ends the transfer. May be called more than once.
    func end() {
        let wasOver = isOver.change { isOver in
            defer { isOver = true }
            return isOver
        }
        if !wasOver {
            transport.ended()
        }
    }

    /// Returns the response with its whole body. If the request has a ``NetKit/Request/savePath``, the body is written
    /// to the file instead.
    func response() async throws(NetError) -> Response<Bytes> {
        var (_, response, chunks) = try await head()
        var body: [UInt8] = []
        do throws(NetError) {
            while let chunk = try await chunks.next() {
                body.append(contentsOf: chunk)
            }
        } catch {
            response.fill(body)
            throw error.attaching(response)
        }
        response.fill(body)
        if let path = request.savePath, (200..<300).contains(response.status), try allowsSaving(response) {
            try save(response.bytes, to: path)
            response.value = []
            response.bytes = []
        }
        return response
    }

    /// Returns the response as a stream. The transfer ends when the stream is read to its end or released.
    func stream() async throws(NetError) -> ResponseStream {
        var (earlierHeads, response, chunks) = try await head()
        chunks.head = response
        return ResponseStream(response, after: earlierHeads, chunks: chunks, onRelease: end)
    }

    /// Opens a WebSocket. Returns the response to the handshake with any status. The transfer ends with the socket.
    func socket(_ options: WebSocket.Options) async throws(NetError) -> WebSocketHandshake {
        var (_, response, chunks) = try await head()
        guard let steps = chunks.socketSteps else {
            var body: [UInt8] = []
            while let chunk = try await chunks.next() {
                body.append(contentsOf: chunk)
            }
            response.fill(body)
            end()
            return WebSocketHandshake(response)
        }
        let connection = StubConnection(transport.opened(), steps: steps, response, options, onEnd: end)
        return WebSocketHandshake(response, connection)
    }

    /// Returns true if the body may be saved to a file. If the request requires a JSON check, only a body that is
    /// checked is saved.
    private func allowsSaving(_ response: Response<Bytes>) throws(NetError) -> Bool {
        if request.expectation == nil {
            return true
        }
        return try JSONCheck(for: request, status: response.status, headers: response.headers) != nil
    }

    private func save(_ bytes: Bytes, to path: String) throws(NetError) {
        do {
            try bytes.data.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw NetError(.file, "'\(path)' cannot be written: \(error)", underlying: error)
        }
    }

    // MARK: Hops

    private func head() async throws(NetError) -> ([ResponseHead], Response<Bytes>, StubChunks) {
        var next = request
        var earlierHeads: [ResponseHead] = []
        var hops: [HopMetrics] = []
        while true {
            var hop = HopMetrics()
            hop.url = next.url.withoutUserinfo
            do throws(NetError) {
                let reply = try await reply(to: next, isFirst: hops.isEmpty)
                hop.status = reply.status
                hop.httpVersion = reply.httpVersion
                let response = reply.head(metrics: Metrics(hops + [hop]))
                do throws(NetError) {
                    try reply.check(request.limits, opensSocket: opensSocket)
                    if let redirected = try StubRedirect.next(after: next, reply, followed: hops.count) {
                        next = redirected
                        earlierHeads.append(
                            ResponseHead(
                                status: reply.status, headers: reply.headers, httpVersion: reply.httpVersion,
                                url: hop.url))
                        hops.append(hop)
                        continue
                    }
                } catch {
                    throw error.attaching(response)
                }
                do throws(NetError) {
                    return (earlierHeads, response, try StubChunks(reply, to: next))
                } catch {
                    throw error.attaching(response)
                }
            } catch {
                throw error.attaching(Metrics(hops + [hop]))
            }
        }
    }

    /// Returns the reply to a hop. As in a server, a registered reply is chosen when the request's head has arrived.
    /// Then the body is read, unless the reply does not wait for it.
    private func reply(to hop: Request<Bytes>, isFirst: Bool) async throws(NetError) -> StubReply {
        let (index, registeredReply) = transport.arrived(hop, of: number)
        if registeredReply?.readsBody ?? true {
            try await readBody(of: hop, isFirst: isFirst, at: index)
        }
        let reply: StubReply
        if let registeredReply {
            if registeredReply.readsBody {
                _ = transport.completed(at: index)
            }
            reply = registeredReply
        } else {
            reply = try await transport.responderReply(to: transport.completed(at: index))
        }
        try await reply.gate?.pass()
        if let failure = reply.failure {
            throw failure
        }
        return reply
    }

    private func readBody(of hop: Request<Bytes>, isFirst: Bool, at index: Int) async throws(NetError) {
        guard let body = hop.body else { return }
        if !isFirst, !body.isRepeatable {
            throw NetError(.notRewindable, "the body cannot be sent again after a redirect")
        }
        try await body.forEachPiece { piece throws(NetError) in
            transport.received(piece, at: index)
        }
    }
}

extension Response where Value == Bytes {
    fileprivate mutating func fill(_ body: [UInt8]) {
        let bytes = Bytes(body)
        value = bytes
        self.bytes = bytes
        var hops = Array(metrics)
        if let last = hops.indices.last {
            hops[last].receivedBytes = body.count
            hops[last].decodedBytes = body.count
        }
        metrics = Metrics(hops)
    }
}

extension NetError {
    /// Returns the error with the partial response, unless it already has a response.
    func attaching(_ partial: Response<Bytes>) -> NetError {
        response != nil
            ? self
            : NetError(
                code, message, nativeCode: nativeCode, offset: offset, response: partial, jsonFaults: jsonFaults,
                underlying: underlying)
    }

    /// Returns the error with the hops so far, unless it already has metrics.
    fileprivate func attaching(_ hops: Metrics) -> NetError {
        !metrics.isEmpty || response != nil
            ? self
            : NetError(code, message, nativeCode: nativeCode, offset: offset, metrics: hops, underlying: underlying)
    }
}

extension StubReply {
    fileprivate func head(metrics: Metrics) -> Response<Bytes> {
        var response = Response<Bytes>(status: status, headers: headers, metrics: metrics)
        response.httpVersion = httpVersion
        response.trailers = trailers
        response.isCloseDelimited = isCloseDelimited
        return response
    }

    /// Throws an error if the head exceeds the limits or has no final status.
    fileprivate func check(_ limits: Limits, opensSocket: Bool) throws(NetError) {
        guard (200...999).contains(status) || (opensSocket && socketSteps != nil) else {
            throw NetError(.badResponse, "invalid status of a stub reply: \(status)")
        }
        if let limit = limits.maxHeadFields, headers.count > limit {
            throw NetError(.headTooLarge, "the head has more than \(limit) fields")
        }
        // The size is that of an HTTP/1.1 head with an empty reason phrase.
        let bytes = headers.reduce("HTTP/1.1 200 \r\n\r\n".utf8.count) { sum, field in
            sum + field.name.utf8.count + field.bytes.count + ": \r\n".utf8.count
        }
        if let limit = limits.maxHeadBytes, bytes > limit {
            throw NetError(.headTooLarge, "the head is larger than \(limit) bytes")
        }
    }
}
