#if Images
/// The format of an image, as determined by its bytes.
public enum ImageFormat: Sendable, Hashable, CaseIterable {
    /// PNG, which can be decoded.
    case png
    /// JPEG, which can be decoded.
    case jpeg
    /// WebP, which can be decoded. Only the first picture of an animation is decoded.
    case webp
    /// GIF, which can only be identified.
    case gif
    /// BMP, which can only be identified.
    case bmp
    /// ICO or CUR, which can only be identified.
    case ico
    /// TIFF, which can only be identified.
    case tiff

    /// Whether ``EncodedImage/decoded(by:)`` can decode images with this format.
    public var isDecoded: Bool { self == .png || self == .jpeg || self == .webp }

    /// The media type that is registered for the format.
    public var mediaType: String {
        switch self {
        case .png: "image/png"
        case .jpeg: "image/jpeg"
        case .webp: "image/webp"
        case .gif: "image/gif"
        case .bmp: "image/bmp"
        case .ico: "image/vnd.microsoft.icon"
        case .tiff: "image/tiff"
        }
    }
}
#endif
