#if Images
/// A cache of decoded images. Its functions are called on any thread and must not block.
public protocol ImageCache: Sendable {
    /// Returns the image for a key, or `nil` if there is none.
    func image(for key: ImageKey) -> Image?
    /// Stores an image, and replaces an existing one with the same key.
    func insert(_ image: Image, for key: ImageKey)
    /// Removes an image. Returns false if there was none.
    @discardableResult
    func remove(_ key: ImageKey) -> Bool
    /// Removes all images. Returns false if there were none.
    @discardableResult
    func removeAll() -> Bool
    /// Returns true if a downloaded image may be stored.
    func shouldCache(_ image: Image, for request: ImageRequest) -> Bool
}

extension ImageCache {
    /// Returns true for every image.
    public func shouldCache(_ image: Image, for request: ImageRequest) -> Bool { true }
}
#endif
