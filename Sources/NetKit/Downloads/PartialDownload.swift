#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A download that is not whole, as it lies in a directory; ``Agent`` has the inventory.
public struct PartialDownload: Sendable, Hashable {
    /// The URL that was asked, without credentials.
    public let url: String
    /// Where the file is to be.
    public let path: String
    /// What there is of it.
    public let partialPath: String
    /// Bytes that are proven.
    public let receivedBytes: Int
    /// Bytes of the whole; nil when nobody knows.
    public let totalBytes: Int?
    /// When something was last proven.
    public let changed: Date
    /// Whether the server gave a strong validator, so that it can be resumed without trust.
    public let hasValidator: Bool
    /// Whether somebody is at it now.
    public let isActive: Bool

    /// The token to go on with it.
    public var token: ResumeToken {
        ResumeToken(url: url, path: path, partialPath: partialPath, receivedBytes: receivedBytes)
    }
}
