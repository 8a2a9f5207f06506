#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import NetKit

/// Records real transfers, which a ``ReplayTransport`` replays.
///
///     let recorder = Recorder()
///     configuration.interceptors.append(recorder)            // the innermost: sees what is sent
///     …
///     try recorder.recording.write(to: "Fixtures/cities.json")
///
/// Secrets in requests and responses are hidden before they are stored: in fields, query keys, forms (also multipart
/// ones) and JSON. A body of another type is unchanged. A request's body with a content coding is not stored.
///
/// Hidden JSON values keep their types, so that a replay decodes. A string becomes ``NetKit/Redaction/mark``, a number
/// 0 and a boolean false. Null is unchanged, and arrays and objects contain such values. Thread-safe.
public final class Recorder: Interceptor {
    private let redaction: Redaction
    private let maxBodyBytes: Int
    private let kept = Lock<[Int: Recording.Exchange]>([:])
    private let asked = Lock(0)

    /// - Parameters:
    ///   - redaction: recognizes secrets.
    ///   - maxBodyBytes: the largest body of a response (16 MiB). A larger one fails with
    ///     ``NetKit/NetError/Code/bodyTooLarge``.
    public init(redaction: Redaction = Redaction(), maxBodyBytes: Int = 16 << 20) {
        self.redaction = redaction
        // One more byte is requested below.
        self.maxBodyBytes = min(max(0, maxBodyBytes), .max - 1)
    }

    /// The finished transfers, in the order of their requests.
    public var recording: Recording {
        var recording = Recording()
        recording.exchanges = kept.withLock { kept in kept.keys.sorted().compactMap { kept[$0] } }
        return recording
    }

    /// Continues the call, and records its end. A streamed body is read completely before it is passed on.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let number = asked.withLock { asked in
            asked += 1
            return asked
        }
        let body = await Self.bytes(of: call.request)
        var exchange = Recording.Exchange(request: .init(call.request, body, without: redaction))
        do throws(NetError) {
            let (bytes, answer) = try await read(try await next(call))
            exchange.response = reply(answer, bytes, to: call.request)
            keep(exchange, as: number)
            return answer
        } catch {
            // A cancellation is not the server's behaviour.
            if error.code != .cancelled {
                exchange.failure = .init(code: error.code.rawValue, message: error.code.description)
                keep(exchange, as: number)
            }
            throw error
        }
    }

    private func keep(_ exchange: Recording.Exchange, as number: Int) {
        kept.withLock { $0[number] = exchange }
    }

    private func read(_ answer: Answer) async throws(NetError) -> (Bytes, Answer) {
        if case .file(let file) = answer.body {
            do {
                return (Bytes(try Data(contentsOf: URL(filePath: file.path))), answer)
            } catch {
                throw NetError(.file, "the saved body cannot be read: \(error)", underlying: error)
            }
        }
        // One more byte shows whether the body exceeds the limit.
        let (bytes, again) = try await answer.peek(upTo: maxBodyBytes + 1)
        if bytes.count > maxBodyBytes {
            throw NetError(.bodyTooLarge, "the body is larger than the \(maxBodyBytes) bytes that are recorded")
        }
        return (bytes, again)
    }

    private func reply(_ answer: Answer, _ bytes: Bytes, to request: Request<Bytes>) -> Recording.Reply {
        let url = redaction.hiding(url: answer.url)
        // The lengths are those on the wire, but the body is decoded.
        let fields = answer.headers.filter { field in
            !["content-length", "transfer-encoding", "content-encoding"].contains(field.name.lowercased())
        }
        let isElsewhere = !answer.url.isEmpty && url != redaction.hiding(url: request.url)
        let trailers = answer.response.trailers
        return Recording.Reply(
            status: answer.status, url: isElsewhere ? url : nil,
            fields: .init(redaction.hiding(Headers(Array(fields)))),
            body: .init(bytes, answer.headers["Content-Type"], without: redaction),
            trailers: trailers.isEmpty ? nil : .init(redaction.hiding(trailers)))
    }

    /// A body that can be read only once belongs to the transport. Secrets in an encoded one cannot be found.
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
