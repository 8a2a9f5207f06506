/// Options of ``Agent/download(_:to:options:destination:)``.
public struct DownloadOptions: Sendable, Hashable {
    /// Whether a failed or cancelled download leaves a partial file, with which it can be continued. If false, the
    /// other options except the checksums do not apply.
    public var isResumable = true
    /// Whether an earlier, incomplete download is resumed. If false, the download starts at the first byte.
    public var resume = true
    /// Whether an existing file is replaced when the download is complete; until then it is not changed. If false, the
    /// download fails with ``NetError/Code/file``. If `nil`, the file is replaced if the caller passed its path. It is
    /// kept if the caller passed a directory, because then the server chose the name.
    public var overwrite: Bool?
    /// The expected checksums of the file. A file with another one is removed: ``NetError/Code/digestMismatch``.
    public var checksums: [Checksum] = []
    /// The directory of the partial file NAME.part. If `nil`, the directory of the destination.
    public var partialFolder: String?
    /// Whether a download is resumed even if the server sent no strong validator. Then a changed file is not detected.
    public var trustsServer = false
    /// The number of segments to download concurrently, from 1 to 16. Fewer are used if the server does not support
    /// ranges or the file is small.
    public var segments = 1
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

/// The expected checksum of a file: `.sha256("9f86d081…")`.
public enum Checksum: Sendable, Hashable {
    /// The SHA-256 in 64 hexadecimal digits.
    case sha256(String)
    /// The MD5 in 32 hexadecimal digits.
    case md5(String)
}

/// A closure that chooses the destination of a download from its response head. It returns the path of a file or of a
/// directory. If it returns `nil`, the next source of a destination applies.
///
/// The closure runs with the priority and the task-local values of the download's caller. If the download ends before
/// the closure returns, the closure's Swift task is cancelled, and the download waits for it.
public typealias DownloadDestination = @Sendable (ResponseHead) async -> String?
