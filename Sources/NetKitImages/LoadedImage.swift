#if Images
public import NetKit

/// A loaded image, with the response that contained it.
public struct LoadedImage: Sendable {
    /// The image.
    public let image: Image
    /// The response with the image; `nil` if it came from the image cache.
    public let response: Response<Image>?

    /// Whether the image came from the image cache.
    public var isFromCache: Bool { response == nil }
}

/// Identifies the request of one caller, even if several callers wait for the same image.
public struct ImageRequestToken: Sendable, Hashable {
    let id: UInt64
}
#endif
