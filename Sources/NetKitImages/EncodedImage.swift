public import NetKit

/// An image as it came: what it says of itself, and its bytes. GIF, BMP, ICO and TIFF are recognized and left to other
/// decoders.
public struct EncodedImage: Sendable {
    /// What kind it is.
    public let format: ImageFormat
    /// Pixels in a row as it is stored; 0 for ICO and TIFF, which hold several images.
    public let width: Int
    /// Rows as they are stored.
    public let height: Int
    /// EXIF's orientation, 1 to 8; 1 is upright.
    public let orientation: Int
    /// Whether it holds more pictures than the one that is decoded (PNG and WebP).
    public let isAnimated: Bool
    /// What came.
    public let bytes: Bytes

    /// Looks at an image without decoding it.
    ///
    /// Throws `NetError.Code.badImage` for what is no image or is cut short, `tooLarge` for more pixels than the options
    /// allow.
    public init(_ bytes: Bytes, _ options: ImageOptions = ImageOptions()) throws(NetError) {
        let plan = try ImageCodec.plan(of: bytes, by: options)
        format = plan.format
        width = plan.storedWidth
        height = plan.storedHeight
        orientation = plan.orientation
        isAnimated = plan.isAnimated
        self.bytes = bytes
    }

    /// Decodes it.
    ///
    /// Throws `NetError.Code.badImage` for a damaged image, `tooLarge` beyond the options, `unsupported` for a kind that is
    /// not decoded.
    public func decoded(by options: ImageOptions = ImageOptions()) throws(NetError) -> Image {
        try Image(bytes, options)
    }
}

extension Image {
    /// Decodes PNG, JPEG or WebP; see ``EncodedImage/decoded(by:)``.
    public init(_ bytes: Bytes, _ options: ImageOptions = ImageOptions()) throws(NetError) {
        self = try ImageCodec.decode(bytes, by: options)
    }

    /// The image as a PNG.
    public func png() throws(NetError) -> Bytes {
        try ImageCodec.png(of: self)
    }
}
