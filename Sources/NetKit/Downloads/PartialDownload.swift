#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An incomplete download in a directory. ``Agent`` has a method that lists them.
public struct PartialDownload: Sendable, Hashable {
    /// The URL of the request, without credentials.
    public let url: String
    /// The destination of the file.
    public let path: String
    /// The path of the partial file.
    public let partialPath: String
    /// Bytes up to the last checkpoint.
    public let receivedBytes: Int
    /// The size of the complete file in bytes, or `nil` if it is unknown.
    public let totalBytes: Int?
    /// The time of the last checkpoint.
    public let changed: Date
    /// Whether the server sent a strong validator. Without one, resuming requires ``DownloadOptions/trustsServer``.
    public let hasValidator: Bool
    /// Whether a download uses it now.
    public let isActive: Bool

    /// The token that resumes it.
    public var token: ResumeToken {
        ResumeToken(url: url, path: path, partialPath: partialPath, receivedBytes: receivedBytes)
    }
}
