/// A cache of decoded images. It is called from any thread, and must neither block nor wait for the network.
public protocol ImageCache: Sendable {
    /// Returns the image for a key, or `nil` if there is none.
    func image(for key: ImageKey) -> Image?
    /// Stores an image, replacing one with the same key.
    func insert(_ image: Image, for key: ImageKey)
    /// Removes an image. Returns false if there was none.
    @discardableResult
    func remove(_ key: ImageKey) -> Bool
    /// Removes all images. Returns false if there were none.
    @discardableResult
    func removeAll() -> Bool
    /// Returns whether a downloaded image is stored.
    func shouldCache(_ image: Image, for request: ImageRequest) -> Bool
}

extension ImageCache {
    /// Returns true.
    public func shouldCache(_ image: Image, for request: ImageRequest) -> Bool { true }
}
