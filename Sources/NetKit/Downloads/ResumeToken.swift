/// The state of a cancelled or failed download, which can be resumed later.
///
///     if let token = await download.cancel() {
///         let file = try await agent.download(request, resuming: token).value
///     }
///
/// It contains paths and no credentials; the request supplies those again. If the files are gone, the download
/// restarts.
public struct ResumeToken: Sendable, Hashable, Codable {
    /// The URL of the request.
    public let url: String
    /// The destination that the caller passed: a file or a directory.
    public let path: String
    /// The path of the partial file.
    public let partialPath: String
    /// The number of bytes received so far.
    public let receivedBytes: Int

    /// Creates a token for existing files.
    public init(url: String, path: String, partialPath: String, receivedBytes: Int) {
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
