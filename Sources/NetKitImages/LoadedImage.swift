public import NetKit

/// An image and its source.
public struct LoadedImage: Sendable {
    /// The image.
    public let image: Image
    /// The response with the image; `nil` if it came from the image cache.
    public let response: Response<Image>?

    /// Whether it came from the image cache.
    public var isFromCache: Bool { response == nil }
}

/// Identifies one caller that waits for an image, among others that wait for the same one.
public struct ImageReceipt: Sendable, Hashable {
    let id: UInt64
}
