/// A file that got a response's body.
public struct SavedFile: Sendable, Hashable {
    /// Where it is.
    public let path: String
    /// Its length in bytes.
    public let byteCount: Int
}
