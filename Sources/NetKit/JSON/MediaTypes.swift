/// Content types that a request takes: "text/json", "application/*", "*/*", or "*+json" for a suffix (RFC 6839). Parameters
/// count on neither side.
enum MediaTypes {
    /// Those of JSON.
    static let json = ["application/json", "text/json", "text/javascript", "*+json"]
    /// That of property lists.
    static let propertyList = ["application/x-plist"]
    /// Those of several parts.
    static let multipart = ["multipart/*"]

    /// Whether a Content-Type is one of them. A body without a type is judged by what it is (RFC 9110, 8.3).
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
            // Some servers send back what they were asked for: some image.
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
