/// A file with a response's body.
public struct SavedFile: Sendable, Hashable {
    /// Its path.
    public let path: String
    /// Its length in bytes.
    public let byteCount: Int
    /// The bytes of it that an earlier attempt had fetched; 0 unless it is a download.
    public internal(set) var resumedBytes = 0

    /// Creates a value for a file of this length.
    public init(path: String, byteCount: Int) {
        self.path = path
        self.byteCount = byteCount
    }
}
