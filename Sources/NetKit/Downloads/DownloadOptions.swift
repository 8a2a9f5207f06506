/// Options of ``Agent/download(_:to:options:events:destination:)``.
public struct DownloadOptions: Sendable, Hashable {
    /// What to do with an existing file.
    public enum Existing: Sendable, Hashable {
        /// Replaces a file that the caller named. Keeps a file in a directory, where the server chose the name.
        case automatic
        /// Replaces the file when the download is complete; until then it is unchanged.
        case replaced
        /// Keeps the file. The download fails with ``NetError/Code/file``.
        case kept
    }

    /// What to do with an existing file.
    public var existing = Existing.automatic
    /// The directory of the partial file, NAME.part. If `nil`, it is the directory of the destination.
    public var partialFolder: String?
    /// Whether an earlier, incomplete download is resumed.
    public var resumes = true
    /// Whether a download is resumed even if the server sent no strong validator.
    public var trustsServer = false
    /// The number of concurrent ranges, 1 to 16. Fewer are used if the server or the size does not allow them.
    public var segments = 1
    /// The expected SHA-256 of the file, 32 bytes.
    public var sha256: [UInt8]?
    /// The expected MD5 of the file, 16 bytes.
    public var md5: [UInt8]?
    /// Whether Content-Disposition can choose the name of a file in a directory.
    public var takesNameFromDisposition = true
    /// Whether the file is synced to disk before it is recorded, so that a power failure does no damage.
    public var isDurable = true
    /// The interval between checkpoints (1 s).
    public var proofInterval = Duration.seconds(1)

    /// Creates options with default values.
    public init() {}
}

/// Returns the destination for a response head, or `nil` to use the next source of a destination. A directory receives
/// the file under its name.
///
/// The closure runs with the priority and the task-local values of the download's caller. If the download ends before
/// the closure returns, its Swift task is cancelled and awaited.
public typealias DownloadDestination = @Sendable (ResponseHead) async -> String?
