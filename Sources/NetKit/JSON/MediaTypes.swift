/// Patterns of content types: "text/json", "application/*", "*/*", or "*+json" for a suffix (RFC 6839). Parameters are
/// ignored on both sides.
enum MediaTypes {
    /// The types of JSON.
    static let json = ["application/json", "text/json", "text/javascript", "*+json"]
    /// The type of property lists.
    static let propertyList = ["application/x-plist"]
    /// The types of multipart bodies.
    static let multipart = ["multipart/*"]

    /// Returns whether a Content-Type matches one of the patterns. A body without a type is accepted, and its contents
    /// decide (RFC 9110, 8.3).
    static func accept(_ contentType: String?, _ patterns: [String]) -> Bool {
        guard let contentType else { return true }
        let type = name(of: contentType)
        return type.isEmpty || patterns.contains { matches(type, name(of: $0)) }
    }

    private static func matches(_ type: String, _ pattern: String) -> Bool {
        if pattern == "*/*" {
            return true
        }
        if type == "image/*" {
            // Some servers send the request's Accept value "image/*" as their Content-Type.
            return pattern.hasPrefix("image/")
        }
        if pattern.hasPrefix("*+") {
            return type.hasSuffix(pattern.dropFirst()) && type.contains("/")
        }
        if pattern.hasSuffix("/*") {
            return type.hasPrefix(pattern.dropLast())
        }
        return type == pattern
    }

    private static func name(of contentType: String) -> String {
        let hasMore = contentType.utf8.contains { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: " ") || $0 == 0x09 }
        guard hasMore else { return contentType.lowercased() }
        return String(contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased()
    }
}
