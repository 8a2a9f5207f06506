#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import NetKit

/// One transfer through a stub: its hops, its body and its end.
final class StubExchange: Sendable {
    private let request: Request<Bytes>
    private let number: Int
    private let transport: StubTransport
    private let isOver = Watched(false)

    /// - Parameter number: unique among the transfers of the transport.
    init(_ request: Request<Bytes>, number: Int, with transport: StubTransport) {
        self.request = request
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

    /// Returns the response with its whole body, or with the file that contains it.
    func response() async throws(NetError) -> Response<Bytes> {
        var (_, response, chunks) = try await head()
        var body: [UInt8] = []
        do throws(NetError) {
            while let chunk = try await chunks.next() {
                body.append(contentsOf: chunk)
            }
        } catch {
            response.fill(body)
            throw error.telling(response)
        }
        response.fill(body)
        if let path = request.savePath, (200..<300).contains(response.status), try isExpected(response) {
            try save(response.bytes, to: path)
            response.value = []
            response.bytes = []
        }
        return response
    }

    /// Returns the response as a stream. The transfer ends when the stream is read or released.
    func stream() async throws(NetError) -> ResponseStream {
        var (earlierHeads, response, chunks) = try await head()
        chunks.head = response
        return ResponseStream(response, after: earlierHeads, chunks: chunks, onRelease: end)
    }

    /// Returns whether the head allows the body check. A body that is not checked is not saved to the file.
    private func isExpected(_ response: Response<Bytes>) throws(NetError) -> Bool {
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
                    try reply.check(request.limits ?? Limits())
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
                    throw error.telling(response)
                }
                do throws(NetError) {
                    return (earlierHeads, response, try StubChunks(reply, to: next))
                } catch {
                    throw error.telling(response)
                }
            } catch {
                throw error.telling(Metrics(hops + [hop]))
            }
        }
    }

    /// The reply is chosen when the head has arrived, as in a server. The body is read before the reply is sent.
    private func reply(to hop: Request<Bytes>, isFirst: Bool) async throws(NetError) -> StubReply {
        let (index, described) = transport.arrived(hop, of: number)
        if described?.readsBody ?? true {
            try await readBody(of: hop, isFirst: isFirst, at: index)
        }
        let reply: StubReply
        if let described {
            if described.readsBody {
                _ = transport.completed(at: index)
            }
            reply = described
        } else {
            reply = try await transport.answer(to: transport.completed(at: index))
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
    func telling(_ partial: Response<Bytes>) -> NetError {
        response != nil
            ? self
            : NetError(
                code, message, nativeCode: nativeCode, offset: offset, response: partial, jsonFaults: jsonFaults,
                underlying: underlying)
    }

    /// Returns the error with the hops so far, unless it already has metrics.
    fileprivate func telling(_ hops: Metrics) -> NetError {
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

    /// Checks the head against the limits.
    fileprivate func check(_ limits: Limits) throws(NetError) {
        guard (200...999).contains(status) else {
            throw NetError(.badResponse, "a stub's status is \(status)")
        }
        if let most = limits.maxHeadFields, headers.count > most {
            throw NetError(.headTooLarge, "the head has more than \(most) fields")
        }
        // The size in HTTP/1.1, with an empty reason phrase.
        let bytes = headers.reduce("HTTP/1.1 200 \r\n\r\n".utf8.count) { sum, field in
            sum + field.name.utf8.count + field.bytes.count + ": \r\n".utf8.count
        }
        if let most = limits.maxHeadBytes, bytes > most {
            throw NetError(.headTooLarge, "the head is larger than \(most) bytes")
        }
    }
}
