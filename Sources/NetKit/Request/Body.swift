#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a request carries.
public struct Body: Sendable {
    /// The bytes.
    public var bytes: Bytes
    /// The Content-Type that is sent when the request names none.
    public var contentType: String?

    /// These bytes, as this type.
    public init(_ bytes: Bytes, contentType: String? = nil) {
        self.bytes = bytes
        self.contentType = contentType
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
}
