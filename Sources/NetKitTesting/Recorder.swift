#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import NetKit

/// An interceptor that records real transfers, so that a ``ReplayTransport`` can replay them.
///
///     let recorder = Recorder()
///     configuration.interceptors.append(recorder)            // innermost, so that it sees the request as sent
///     …
///     try recorder.recording.write(to: "Fixtures/cities.json")
///
/// Secrets in requests and responses are hidden before they are stored. They are recognized by their names in header
/// fields, queries, forms (including multipart forms) and JSON. A body of any other type is stored unchanged. A request
/// body with a content coding is not stored.
///
/// Hidden JSON values keep their types, so that a replayed body can be decoded. A string becomes
/// ``NetKit/Redaction/mark``, a number becomes 0, and a boolean becomes false. Null is unchanged. In arrays and
/// objects, these rules apply to the values. Thread-safe.
public final class Recorder: Interceptor {
    private let redaction: Redaction
    private let maxBodyBytes: Int
    private let recorded = Lock<[Int: Recording.Exchange]>([:])
    private let requestCount = Lock(0)

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - redaction: recognizes secrets.
    ///   - maxBodyBytes: the largest body of a response (16 MiB). A call with a larger body fails with
    ///     ``NetKit/NetError/Code/bodyTooLarge``.
    public init(redaction: Redaction = Redaction(), maxBodyBytes: Int = 16 << 20) {
        self.redaction = redaction
        // The limit is at most Int.max - 1, because `read(_:)` requests one more byte.
        self.maxBodyBytes = min(max(0, maxBodyBytes), .max - 1)
    }

    /// The finished transfers, in the order of their requests.
    public var recording: Recording {
        var recording = Recording()
        recording.exchanges = recorded.withLock { recorded in recorded.keys.sorted().compactMap { recorded[$0] } }
        return recording
    }

    /// Sends the request and records its outcome. A streamed body is read completely before it is passed on.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let number = requestCount.withLock { requestCount in
            requestCount += 1
            return requestCount
        }
        let body = await Self.bytes(of: call.request)
        var exchange = Recording.Exchange(request: .init(call.request, body, without: redaction))
        do throws(NetError) {
            let (bytes, response) = try await read(try await next(call))
            exchange.response = reply(response, bytes, to: call.request)
            store(exchange, as: number)
            return response
        } catch {
            // A cancellation is not recorded, because it is not caused by the server.
            if error.code != .cancelled {
                exchange.failure = .init(code: error.code.rawValue, message: "\(error.code)")
                store(exchange, as: number)
            }
            throw error
        }
    }

    private func store(_ exchange: Recording.Exchange, as number: Int) {
        recorded.withLock { $0[number] = exchange }
    }

    private func read(_ response: ChainResponse) async throws(NetError) -> (Bytes, ChainResponse) {
        if case .file(let file) = response.body {
            do {
                return (Bytes(try Data(contentsOf: URL(filePath: file.path))), response)
            } catch {
                throw NetError(.file, "the saved body cannot be read: \(error)", underlying: error)
            }
        }
        // One more byte shows whether the body exceeds the limit.
        let (bytes, bufferedResponse) = try await response.peek(upTo: maxBodyBytes + 1)
        if bytes.count > maxBodyBytes {
            throw NetError(
                .bodyTooLarge, "the body exceeds the recording limit of \(maxBodyBytes) bytes (maxBodyBytes)")
        }
        return (bytes, bufferedResponse)
    }

    private func reply(_ response: ChainResponse, _ bytes: Bytes, to request: Request<Bytes>) -> Recording.Reply {
        let url = redaction.hiding(url: response.url)
        // These fields describe the coded body on the wire, but the recorded body is decoded.
        let fields = response.headers.filter { field in
            !["content-length", "transfer-encoding", "content-encoding"].contains(field.name.lowercased())
        }
        let isCrossOrigin = !response.url.isEmpty && url != redaction.hiding(url: request.url)
        let trailers = response.response.trailers
        return Recording.Reply(
            status: response.status, url: isCrossOrigin ? url : nil,
            fields: .init(redaction.hiding(Headers(Array(fields)))),
            body: .init(bytes, response.headers["Content-Type"], without: redaction),
            trailers: trailers.isEmpty ? nil : .init(redaction.hiding(trailers)))
    }

    /// Returns the body of a request, or `nil` if it is not recorded. A body that can be read only once is left to the
    /// transport. A body with a content coding is not recorded, because its secrets cannot be found.
    private static func bytes(of request: Request<Bytes>) async -> Bytes? {
        guard let body = request.body, body.isRepeatable, request.sentFields["Content-Encoding"] == nil else {
            return nil
        }
        let read = Lock<[UInt8]>([])
        do throws(NetError) {
            try await body.forEachPiece { piece throws(NetError) in
                read.withLock { $0.append(contentsOf: piece) }
            }
        } catch {
            return nil
        }
        return Bytes(read.withLock { $0 })
    }
}
