/// How ``Agent/download(_:to:options:events:destination:)`` goes about it.
public struct DownloadOptions: Sendable, Hashable {
    /// What becomes of a file that is there already.
    public enum Existing: Sendable, Hashable {
        /// A file that was named is replaced; one in a directory, whose name came from elsewhere, is not.
        case automatic
        /// It is replaced when the download is whole; until then it stays.
        case replaced
        /// It stays, and the download fails with ``NetError/Code/file``.
        case kept
    }

    /// What becomes of a file that is there already.
    public var existing = Existing.automatic
    /// Where NAME.part lies until it is whole; nil: where the file will be.
    public var partialFolder: String?
    /// Whether what an earlier attempt fetched is gone on with.
    public var resumes = true
    /// Whether it is gone on with although the server gave no strong validator.
    public var trustsServer = false
    /// Ranges at once, 1 to 16; fewer when the server or the size do not allow them.
    public var segments = 1
    /// SHA-256 that the file must have, 32 bytes.
    public var sha256: [UInt8]?
    /// MD5 that the file must have, 16 bytes.
    public var md5: [UInt8]?
    /// Whether a file in a directory may be called as Content-Disposition says.
    public var takesNameFromDisposition = true
    /// Whether what is claimed to be there is synced first, so that a power failure does no harm either.
    public var isDurable = true
    /// How often what was written is proven (1 s).
    public var proofInterval = Duration.seconds(1)

    /// The defaults.
    public init() {}
}

/// Where a file goes, by its head; nil leaves it to whoever is asked next. A directory gets the file under its name.
///
/// Its task works for the download's caller, with that one's priority and task-local values; it is cancelled, and waited
/// for, when the download ends before the answer.
public typealias DownloadDestination = @Sendable (ResponseHead) async -> String?
