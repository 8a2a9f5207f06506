#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that names a URL or a file: `String` or `URL`. A `String` may be relative; a `URL` stands for its absolute
/// form. A file is named by its path or by a file URL.
public protocol URLConvertible: Sendable {
    /// The text of the URL.
    var _urlText: String { get }
}

extension String: URLConvertible {
    /// The string itself.
    public var _urlText: String { self }
}

extension URL: URLConvertible {
    /// The absolute URL.
    public var _urlText: String { absoluteString }
}

/// The parts of a URL or a reference as it is written (RFC 3986, 3), without decoding or validation. The core splits
/// it.
package struct URLParts {
    /// The scheme; empty if absent.
    package let scheme: String
    /// The host, with the brackets of an IPv6 address; `nil` without an authority.
    package let host: String?
    /// The port; `nil` if it is absent, empty or no number.
    package let port: Int?
    /// The path, with its leading "/".
    package let path: String
    /// The text after "?".
    package let query: String?
    /// Whether there is text other than a number behind the host's colon.
    let hasInvalidPort: Bool

    /// - Parameter writtenPort: the text behind the host's colon; empty if absent.
    init(scheme: String, host: String?, writtenPort: String, path: String, query: String?) {
        self.scheme = scheme
        self.host = host
        port = writtenPort.utf8.allSatisfy { (48...57).contains($0) } ? Int(writtenPort) : nil
        self.path = path
        self.query = query
        hasInvalidPort = !writtenPort.isEmpty && port == nil
    }

    /// Path and query: the target of a request (RFC 9112, 3.2.1).
    package var target: String {
        let path = path.isEmpty ? "/" : path
        return query.map { "\(path)?\($0)" } ?? path
    }
}

extension URLConvertible {
    /// The path of a file: the string itself, or the path of a file URL without percent-encoding; `nil` for another
    /// URL.
    var path: String? {
        guard let url = self as? URL else { return _urlText }
        return url.isFileURL ? url.path(percentEncoded: false) : nil
    }

    /// The path. For a URL that does not name a file its text, which is not the path of an existing file.
    var filePath: String { path ?? _urlText }
}
