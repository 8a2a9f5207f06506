#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
public import NetKit

/// Writes down real exchanges, to be replayed by a ``ReplayTransport``.
///
///     let recorder = Recorder()
///     configuration.interceptors.append(recorder)            // the innermost: what goes to the wire
///     …
///     try recorder.recording.write(to: "Fixtures/cities.json")
///
/// Secrets are hidden before they are kept: fields, query keys, and the fields of forms, those of several parts among
/// them, and of JSON, of requests and responses alike; a body of another type stays as it is. What is hidden in JSON keeps
/// its type, so that a replay decodes: text is ``NetKit/Redaction/mark``, a number 0, a boolean false, null is null, and
/// arrays and objects hold such values. A request's body that is
/// sent in a content coding is not kept. Thread-safe.
public final class Recorder: Interceptor {
    private let redaction: Redaction
    private let maxBodyBytes: Int
    private let kept = Lock<[Int: Recording.Exchange]>([:])
    private let asked = Lock(0)

    /// - Parameters:
    ///   - redaction: tells what is a secret.
    ///   - maxBodyBytes: a response with a larger body (16 MiB) fails with ``NetKit/NetError/Code/bodyTooLarge``.
    public init(redaction: Redaction = Redaction(), maxBodyBytes: Int = 16 << 20) {
        self.redaction = redaction
        // One more byte is asked for.
        self.maxBodyBytes = min(max(0, maxBodyBytes), .max - 1)
    }

    /// The exchanges that are over, in the order in which they were asked.
    public var recording: Recording {
        var recording = Recording()
        recording.exchanges = kept.withLock { kept in kept.keys.sorted().compactMap { kept[$0] } }
        return recording
    }

    /// Lets the call go on, and writes down how it ended. A streamed body is read before it is handed on.
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
            // Whoever gives up says nothing about the server.
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
        // One byte more tells whether there are more.
        let (bytes, again) = try await answer.peek(upTo: maxBodyBytes + 1)
        if bytes.count > maxBodyBytes {
            throw NetError(.bodyTooLarge, "the body is larger than the \(maxBodyBytes) bytes that are recorded")
        }
        return (bytes, again)
    }

    private func reply(_ answer: Answer, _ bytes: Bytes, to request: Request<Bytes>) -> Recording.Reply {
        let url = redaction.hiding(url: answer.url)
        // The lengths are those of the wire, and the body's codings have been undone.
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

    /// A body that can be read once only is the transport's, and what secrets a coded one has nobody can see.
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
