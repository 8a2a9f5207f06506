/// The format of an image, determined only by its bytes.
public enum ImageFormat: Sendable, Hashable, CaseIterable {
    /// PNG, can be decoded.
    case png
    /// JPEG, can be decoded.
    case jpeg
    /// WebP, can be decoded; of an animation only the first picture.
    case webp
    /// GIF, is only identified.
    case gif
    /// BMP, is only identified.
    case bmp
    /// ICO and CUR, are only identified.
    case ico
    /// TIFF, is only identified.
    case tiff

    /// Whether ``EncodedImage/decoded(by:)`` can decode it.
    public var isDecoded: Bool { self == .png || self == .jpeg || self == .webp }

    /// The media type (IANA).
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
