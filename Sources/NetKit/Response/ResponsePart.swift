/// A part of a multipart response (RFC 2046, 5.1).
public struct ResponsePart: Sendable {
    /// Its place among all, from 0; those that were skipped count.
    public var index: Int
    /// Its fields, in their order; it may have none.
    public var headers: Headers
    /// Its content, as it was sent: a Content-Transfer-Encoding or Content-Encoding is not undone.
    public var bytes: Bytes

    /// A part as a test makes it.
    public init(index: Int = 0, headers: Headers = [:], bytes: Bytes = []) {
        self.index = index
        self.headers = headers
        self.bytes = bytes
    }
}

/// A part before its content has come.
public struct PartHead: Sendable {
    /// Its place among all, from 0.
    public var index: Int
    /// Its fields.
    public var headers: Headers
}

/// What becomes of a part.
public enum PartDecision: Sendable, Hashable {
    /// It is given whole.
    case allow
    /// Its content is dropped as it comes.
    case skip
    /// The transfer ends; the parts end with ``NetError/Code/stoppedByCaller``.
    case cancel
}

/// How much a multipart response may be; beyond it the parts end with ``NetError/Code/tooLarge`` or
/// ``NetError/Code/headTooLarge``. Parts that are skipped count as others.
public struct PartLimits: Sendable, Hashable {
    /// Parts; nil is 10,000, and no limit for multipart/x-mixed-replace.
    public var maxParts: Int?
    /// Bytes of one part's content (64 MiB); 0 is the default.
    public var maxPartBytes = 64 << 20
    /// Bytes of one part's fields (16 KiB), which are 64 at most; 0 is the default.
    public var maxHeadBytes = 16 << 10

    /// The defaults.
    public init() {}

    func maxParts(of contentType: String) -> UInt64 {
        guard let maxParts else { return PartLimits.isReplacing(contentType) ? .max : 0 }
        return UInt64(max(1, maxParts))
    }

    static func isReplacing(_ contentType: String) -> Bool {
        MediaTypes.accept(contentType, ["multipart/x-mixed-replace"])
    }
}
