/// A part of a multipart response (RFC 2046, 5.1).
public struct ResponsePart: Sendable {
    /// Its index among all parts, from 0, including skipped ones.
    public var index: Int
    /// Its fields in order; possibly none.
    public var headers: Headers
    /// Its content as sent: Content-Transfer-Encoding and Content-Encoding are not decoded.
    public var bytes: Bytes

    /// Creates a part for a test.
    public init(index: Int = 0, headers: Headers = [:], bytes: Bytes = []) {
        self.index = index
        self.headers = headers
        self.bytes = bytes
    }
}

/// A part before its content has arrived.
public struct PartHead: Sendable {
    /// Its index among all parts, from 0.
    public var index: Int
    /// Its fields.
    public var headers: Headers
}

/// The action for a part.
public enum PartDecision: Sendable, Hashable {
    /// Delivers the whole part.
    case allow
    /// Drops its content.
    case skip
    /// Ends the transfer; the sequence throws ``NetError/Code/stoppedByCaller``.
    case cancel
}

/// Limits of a multipart response. Beyond them the sequence throws ``NetError/Code/tooLarge`` or
/// ``NetError/Code/headTooLarge``. Skipped parts count too.
public struct PartLimits: Sendable, Hashable {
    /// The number of parts; `nil` is 10,000, or unlimited for multipart/x-mixed-replace.
    public var maxParts: Int?
    /// The bytes of one part's content (64 MiB); 0 is the default.
    public var maxPartBytes = 64 << 20
    /// The bytes of one part's fields (16 KiB), at most 64 fields; 0 is the default.
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
