/// What kind of image bytes are, judged by the bytes alone.
public enum ImageFormat: Sendable, Hashable, CaseIterable {
    /// PNG; decoded.
    case png
    /// JPEG; decoded.
    case jpeg
    /// WebP; decoded, an animation's first picture.
    case webp
    /// GIF; recognized.
    case gif
    /// BMP; recognized.
    case bmp
    /// ICO and CUR; recognized.
    case ico
    /// TIFF; recognized.
    case tiff

    /// Whether ``EncodedImage/decoded(by:)`` can make an ``Image`` of it.
    public var isDecoded: Bool { self == .png || self == .jpeg || self == .webp }

    /// Its media type (IANA).
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
