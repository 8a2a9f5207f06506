/// A file that got a response's body.
public struct SavedFile: Sendable, Hashable {
    /// Where it is.
    public let path: String
    /// Its length in bytes.
    public let byteCount: Int
    /// Of these, bytes that an earlier attempt had fetched; 0 for what was not downloaded.
    public internal(set) var resumedBytes = 0

    /// A file of this length.
    public init(path: String, byteCount: Int) {
        self.path = path
        self.byteCount = byteCount
    }
}
