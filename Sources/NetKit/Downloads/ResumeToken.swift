/// What a download leaves behind that was cancelled or failed: enough to go on with it another day.
///
///     if let token = await download.cancel() {
///         let file = try await agent.download(request, resuming: token).value
///     }
///
/// It names files and holds no credentials: the request brings those again. Without the files it is worth nothing, and
/// the download begins anew.
public struct ResumeToken: Sendable, Hashable, Codable {
    /// The URL that was asked.
    public let url: String
    /// Where the file is to be, as it was said: a file or a directory.
    public let path: String
    /// What there is of it.
    public let partialPath: String
    /// Bytes that are there.
    public let receivedBytes: Int

    /// A token for files that lie there.
    public init(url: String, path: String, partialPath: String, receivedBytes: Int) {
        self.url = url
        self.path = path
        self.partialPath = partialPath
        self.receivedBytes = receivedBytes
    }

    /// The directory that it lies in.
    var folder: String {
        guard let slash = partialPath.lastIndex(of: "/") else { return "." }
        return slash == partialPath.startIndex ? "/" : String(partialPath[..<slash])
    }
}
