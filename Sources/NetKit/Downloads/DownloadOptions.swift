/// Options of ``Agent/download(_:to:options:destination:)``.
public struct DownloadOptions: Sendable, Hashable {
    /// What to do with an existing file.
    public enum Existing: Sendable, Hashable {
        /// Replaces the file if the caller passed its path. Keeps it if the caller passed a directory, because then the
        /// server chose the name.
        case automatic
        /// Replaces the file when the download is complete. Until then the file is not changed.
        case replaced
        /// Keeps the file: the download fails with ``NetError/Code/file``.
        case kept
    }

    /// Whether a failed or cancelled download leaves a partial file, with which it can be continued. If false, the
    /// other options except the digests do not apply.
    public var isResumable = true
    /// What to do with an existing file.
    public var existing = Existing.automatic
    /// The directory of the partial file NAME.part. If `nil`, the directory of the destination.
    public var partialFolder: String?
    /// Whether an earlier, incomplete download is resumed. If false, the download starts at the first byte.
    public var resumes = true
    /// Whether a download is resumed even if the server sent no strong validator. Then a changed file is not detected.
    public var trustsServer = false
    /// The number of segments to download concurrently, from 1 to 16. Fewer are used if the server does not support
    /// ranges or the file is small.
    public var segments = 1
    /// The expected SHA-256 digest of the file, 32 bytes. If `nil`, it is not checked.
    public var sha256: [UInt8]?
    /// The expected MD5 digest of the file, 16 bytes. If `nil`, it is not checked.
    public var md5: [UInt8]?
    /// Whether the Content-Disposition field determines the file name if the destination is a directory.
    public var takesNameFromDisposition = true
    /// Whether the received bytes are synced to disk before each checkpoint, so that a power failure cannot damage the
    /// file.
    public var isDurable = true
    /// The interval between checkpoints (1 s).
    public var checkpointInterval = Duration.seconds(1)

    /// Creates options with default values.
    public init(isResumable: Bool = true) {
        self.isResumable = isResumable
    }
}

/// A closure that chooses the destination of a download from its response head. It returns the path of a file or of a
/// directory. If it returns `nil`, the next source of a destination applies.
///
/// The closure runs with the priority and the task-local values of the download's caller. If the download ends before
/// the closure returns, the closure's Swift task is cancelled, and the download waits for it.
public typealias DownloadDestination = @Sendable (ResponseHead) async -> String?
