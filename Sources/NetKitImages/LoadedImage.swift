public import NetKit

/// An image, and where it came from.
public struct LoadedImage: Sendable {
    /// The image.
    public let image: Image
    /// The response that brought it; nil when it came from the image cache.
    public let response: Response<Image>?

    /// Whether it came from the image cache.
    public var isFromCache: Bool { response == nil }
}

/// One who waits for an image, to be told apart from others that wait for the same one.
public struct ImageReceipt: Sendable, Hashable {
    let id: UInt64
}
