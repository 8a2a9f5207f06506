#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An incomplete download in a directory; see ``Agent/partialDownloads(in:)``.
public struct PartialDownload: Sendable, Hashable {
    /// The URL of the request, without credentials.
    public let url: String
    /// The destination that the caller of the download passed: a file or a directory.
    public let path: String
    /// The path of the partial file.
    public let partialPath: String
    /// The number of bytes that were received before the last checkpoint.
    public let receivedBytes: Int
    /// The size of the complete file in bytes, or `nil` if it is unknown.
    public let totalBytes: Int?
    /// The time of the last checkpoint.
    public let changed: Date
    /// Whether the server sent a strong validator. Without one, resuming requires ``DownloadOptions/trustsServer``.
    public let hasValidator: Bool
    /// Whether a running download uses the partial file.
    public let isActive: Bool

    /// The token with which ``Agent`` can resume the download.
    public var token: ResumeToken {
        ResumeToken(url: url, path: path, partialPath: partialPath, receivedBytes: receivedBytes)
    }
}

/// The data with which a cancelled or failed download can be resumed later.
///
///     if let token = error.resumeToken {
///         let file = try await agent.download(request, resuming: token).value
///     }
///
/// The token contains paths but no credentials. The request that resumes the download has to supply them. If the
/// partial file was removed, the download restarts.
public struct ResumeToken: Sendable, Hashable, Codable {
    /// The URL of the request.
    package let url: String
    /// The destination that the caller passed: a file or a directory.
    package let path: String
    /// The path of the partial file.
    package let partialPath: String
    /// The number of bytes received so far.
    package let receivedBytes: Int

    /// Creates a token for an existing partial file.
    package init(url: String, path: String, partialPath: String, receivedBytes: Int) {
        self.url = url
        self.path = path
        self.partialPath = partialPath
        self.receivedBytes = receivedBytes
    }

    /// The directory of the partial file.
    var folder: String {
        guard let slash = partialPath.lastIndex(of: "/") else { return "." }
        return slash == partialPath.startIndex ? "/" : String(partialPath[..<slash])
    }
}

/// A file with a response's body.
public struct DownloadedFile: Sendable, Hashable {
    /// The path of the file.
    public let path: String
    /// The length of the file in bytes.
    public let byteCount: Int
    /// The number of bytes that a download took over from an earlier attempt. 0 for a file that was not written by a
    /// download.
    public internal(set) var resumedBytes = 0

    /// Creates a value for a file of this length.
    public init(path: String, byteCount: Int) {
        self.path = path
        self.byteCount = byteCount
    }
}
