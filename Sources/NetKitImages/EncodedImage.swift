#if Images
public import NetKit

/// An encoded image with its properties. GIF, BMP, ICO and TIFF images can be identified, but not decoded with this
/// library.
public struct EncodedImage: Sendable {
    /// The format.
    public let format: ImageFormat
    /// The stored width in pixels. 0 for ICO and TIFF, which may contain several images.
    public let width: Int
    /// The stored height in pixels. 0 for ICO and TIFF.
    public let height: Int
    /// The EXIF orientation, 1 to 8. 1 means upright.
    public let orientation: Int
    /// Whether a PNG or WebP image contains an animation, of which only the first picture is decoded.
    public let isAnimated: Bool
    /// The encoded bytes.
    public let bytes: Bytes

    /// Identifies an image without decoding it.
    ///
    /// Throws `NetError.Code.badImage` if the bytes are not an image or are truncated, and `tooLarge` if the image has
    /// more pixels than the options allow.
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
    /// Throws `NetError.Code.badImage` for a damaged image, `tooLarge` if it exceeds a limit of the options, and
    /// `unsupported` for a format that cannot be decoded.
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
#endif
