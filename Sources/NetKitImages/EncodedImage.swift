public import NetKit

/// An encoded image: its properties and its bytes. GIF, BMP, ICO and TIFF are identified; other decoders must decode
/// them.
public struct EncodedImage: Sendable {
    /// The format.
    public let format: ImageFormat
    /// The stored width in pixels; 0 for ICO and TIFF, which contain several images.
    public let width: Int
    /// The stored height in pixels.
    public let height: Int
    /// The EXIF orientation, 1 to 8; 1 is upright.
    public let orientation: Int
    /// Whether it contains more pictures than the one that is decoded (PNG and WebP).
    public let isAnimated: Bool
    /// The encoded bytes.
    public let bytes: Bytes

    /// Identifies an image without decoding it.
    ///
    /// Throws `NetError.Code.badImage` if it is not an image or is truncated, and `tooLarge` if it exceeds the pixels
    /// of the options.
    public init(_ bytes: Bytes, _ options: ImageOptions = ImageOptions()) throws(NetError) {
        let plan = try ImageCodec.plan(of: bytes, by: options)
        format = plan.format
        width = plan.storedWidth
        height = plan.storedHeight
        orientation = plan.orientation
        isAnimated = plan.isAnimated
        self.bytes = bytes
    }

    /// Decodes the image.
    ///
    /// Throws `NetError.Code.badImage` for a damaged image, `tooLarge` if it exceeds the options, and `unsupported` for
    /// a format that cannot be decoded.
    public func decoded(by options: ImageOptions = ImageOptions()) throws(NetError) -> Image {
        try Image(bytes, options)
    }
}

extension Image {
    /// Decodes a PNG, JPEG or WebP image; see ``EncodedImage/decoded(by:)``.
    public init(_ bytes: Bytes, _ options: ImageOptions = ImageOptions()) throws(NetError) {
        self = try ImageCodec.decode(bytes, by: options)
    }

    /// Returns the image as a PNG.
    public func png() throws(NetError) -> Bytes {
        try ImageCodec.png(of: self)
    }
}
