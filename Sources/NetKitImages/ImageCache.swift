/// Where decoded images are kept. Called from any thread; it must neither block nor wait for the network.
public protocol ImageCache: Sendable {
    /// The image under a key; nil when there is none.
    func image(for key: ImageKey) -> Image?
    /// Keeps an image, in place of one under the same key.
    func insert(_ image: Image, for key: ImageKey)
    /// Removes an image; false when there was none.
    @discardableResult
    func remove(_ key: ImageKey) -> Bool
    /// Removes all images; false when there were none.
    @discardableResult
    func removeAll() -> Bool
    /// Whether an image that was downloaded is to be kept.
    func shouldCache(_ image: Image, for request: ImageRequest) -> Bool
}

extension ImageCache {
    /// Every image is.
    public func shouldCache(_ image: Image, for request: ImageRequest) -> Bool { true }
}
