#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request carries.
public struct Body: Sendable {
    /// Where the bytes are.
    enum Content: Sendable {
        case bytes(Bytes)
        case file(String)
        case source(BodySource)
    }

    var content: Content
    /// The Content-Type that is sent when the request names none.
    public var contentType: String?

    init(_ content: Content, contentType: String?) {
        self.content = content
        self.contentType = contentType
    }

    /// These bytes, as this type.
    public init(_ bytes: Bytes, contentType: String? = nil) {
        self.init(.bytes(bytes), contentType: contentType)
    }

    /// The bytes; empty for a body that is read while it is sent.
    public var bytes: Bytes {
        get {
            guard case .bytes(let bytes) = content else { return [] }
            return bytes
        }
        set { content = .bytes(newValue) }
    }

    /// Text, in UTF-8.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> Body {
        Body(Bytes(Array(text.utf8)), contentType: contentType)
    }

    /// A value as JSON.
    ///
    /// Throws ``NetError/Code/unencodable`` for what JSON cannot say, such as a number that is not finite.
    public static func json(_ value: some Encodable) throws(NetError) -> Body {
        do {
            return Body(Bytes(Array(try JSONEncoder().encode(value))), contentType: "application/json")
        } catch {
            throw NetError(.unencodable, "the value is not expressible in JSON: \(error)", underlying: error)
        }
    }

    /// The content of a regular file, read as it is sent.
    public static func file(_ path: String, contentType: String? = nil) -> Body {
        Body(.file(path), contentType: contentType)
    }

    /// Whether it is read while it is sent, which may take long.
    var isStreamed: Bool {
        if case .bytes = content { false } else { true }
    }

    /// Whether it can be sent a second time, as a redirect may ask.
    public var isRepeatable: Bool {
        if case .source(let source) = content { source.isRepeatable } else { true }
    }
}
