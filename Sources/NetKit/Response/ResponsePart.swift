/// The head of a response: status and header fields, without the body.
public struct ResponseHead: Sendable {
    /// The status code, 100 to 999.
    public var status: Int
    /// The fields.
    public var headers: Headers
    /// The HTTP version.
    public var httpVersion: HTTPVersion
    /// The URL of the response, without credentials.
    public var url: String

    /// Creates a head for a stub or another transport.
    public init(status: Int, headers: Headers = [:], httpVersion: HTTPVersion = .unknown, url: String = "") {
        self.status = status
        self.headers = headers
        self.httpVersion = httpVersion
        self.url = url
    }
}

/// How a transfer continues after the response head has arrived; see the hook `head` of ``TransferHooks``.
public enum ResponseDisposition: Sendable, Hashable {
    /// Continues as requested.
    case allow
    /// Ends the transfer with ``NetError/Code/cancelled`` before the body is read.
    case cancel
    /// Writes the body to this file. The file appears when it is complete, and replaces an existing file.
    case download(to: String)
    /// Delivers the body as a stream, if the caller can receive one.
    case stream
}

/// A part of a multipart response (RFC 2046, 5.1).
public struct ResponsePart: Sendable {
    /// The index among all parts, from 0. Skipped parts count too.
    public var index: Int
    /// The header fields in order. A part may have none.
    public var headers: Headers
    /// The content as sent. Content-Transfer-Encoding and Content-Encoding are not decoded.
    public var bytes: Bytes
}

/// The index and header fields of a part whose content has not arrived yet.
public struct PartHead: Sendable {
    /// The index among all parts, from 0.
    public var index: Int
    /// The header fields.
    public var headers: Headers
}

/// What to do with a part whose head has arrived.
public enum PartAction: Sendable, Hashable {
    /// Delivers the whole part.
    case allow
    /// Drops the part.
    case skip
    /// Ends the transfer; the sequence throws ``NetError/Code/stoppedByCaller``.
    case cancel
}

/// Limits of a multipart response. If a limit is exceeded, the sequence throws ``NetError/Code/tooLarge`` or
/// ``NetError/Code/headTooLarge``. Skipped parts count too.
public struct PartLimits: Sendable, Hashable {
    /// The largest number of parts. If `nil`, the limit is 10,000, but multipart/x-mixed-replace has no limit.
    public var maxParts: Int?
    /// The largest size of one part's content in bytes (64 MiB). 0 means the default.
    public var maxPartBytes = 64 << 20
    /// The largest size of one part's header fields in bytes (16 KiB). 0 means the default. A part can have at most 64
    /// fields.
    public var maxHeadBytes = 16 << 10

    /// Creates the default limits.
    public init() {}

    func maxParts(of contentType: String) -> UInt64 {
        guard let maxParts else { return PartLimits.isReplacing(contentType) ? .max : 0 }
        return UInt64(max(1, maxParts))
    }

    static func isReplacing(_ contentType: String) -> Bool {
        MediaTypes.accept(contentType, ["multipart/x-mixed-replace"])
    }
}

/// A destination for a response's body. It receives the body in pieces, in order, so that the body is not kept in
/// memory.
///
///     let request = Request<Void>("film.mkv").writing(to: DescriptorOutput(descriptor))
///     agent.start(request)
///
/// The functions are called one at a time, and the transfer pauses while they run. An error that they throw ends the
/// request. A ``NetError`` is thrown unchanged; any other error becomes the ``NetError/underlying`` error of
/// ``NetError/Code/stoppedByCaller``.
public protocol BodyOutput: Sendable {
    /// Writes the next bytes, and returns when the output can accept more.
    func write(_ bytes: Bytes) async throws
    /// Discards all bytes that were written, because the body starts from the beginning again. This happens when a
    /// paused request cannot continue where it stopped. Bytes of two different responses are never mixed.
    func startOver() async throws
    /// Finishes the output. Called once, after the last byte of a complete body.
    func finish() async throws
}

extension BodyOutput {
    /// Throws ``NetError/Code/notRewindable``, because by default an output cannot discard bytes.
    public func startOver() async throws {
        throw NetError(
            .notRewindable, "the body restarts at its first byte, but its output does not implement startOver()")
    }

    /// Does nothing.
    public func finish() async throws {}
}
