#if Images
/// Options and limits for decoding an image. The limits are checked before anything is decoded.
public struct ImageOptions: Sendable, Hashable {
    /// A size in pixels.
    public struct Size: Sendable, Hashable {
        /// The width in pixels.
        public var width: Int
        /// The height in pixels.
        public var height: Int

        /// Creates a size.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The largest size of the decoded image, in upright orientation. A larger image is scaled down while it is
    /// decoded, with its aspect ratio unchanged. If `nil`, images are not scaled down.
    public var fit: Size?
    /// The ``Image/scale`` of the decoded image, in pixels per point (1).
    public var scale = 1.0
    /// The largest number of pixels of the encoded image (50,000,000).
    public var maxPixels = 50_000_000
    /// The largest amount of memory for decoding in bytes, including the decoder's buffers (256 MiB).
    public var maxBytes = 256 << 20
    /// Whether the EXIF orientation is ignored (false).
    public var ignoresOrientation = false

    /// Creates options with default values.
    public init() {}

    /// Creates options with a largest size of the decoded image.
    public init(fit: Size) {
        self.fit = fit
    }
}
#endif
