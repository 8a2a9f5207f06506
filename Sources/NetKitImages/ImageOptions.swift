/// Decoding options and limits of an image. Sizes are checked before anything is decoded.
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

    /// The largest displayed size. A larger image is scaled down while it is decoded, with its aspect ratio unchanged.
    /// `nil` is no limit.
    public var fit: Size?
    /// Pixels per point of the result: ``Image/scale`` (1).
    public var scale = 1.0
    /// The largest stored size in pixels (50,000,000).
    public var maxPixels = 50_000_000
    /// The largest decoded size in bytes, including the decoder's buffers (256 MiB).
    public var maxBytes = 256 << 20
    /// Whether the EXIF orientation is ignored (false).
    public var ignoresOrientation = false

    /// Creates options with default values.
    public init() {}

    /// Creates options with a largest size.
    public init(fit: Size) {
        self.fit = fit
    }
}
