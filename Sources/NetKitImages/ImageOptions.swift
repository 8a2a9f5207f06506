/// How an image is decoded, and how large it may be. Sizes are checked before anything is decoded.
public struct ImageOptions: Sendable, Hashable {
    /// A size in pixels.
    public struct Size: Sendable, Hashable {
        /// Pixels in a row.
        public var width: Int
        /// Rows.
        public var height: Int

        /// A size.
        public init(width: Int, height: Int) {
            self.width = width
            self.height = height
        }
    }

    /// The largest size as shown: a larger image is scaled down while it is decoded, and keeps its shape. Nil is none.
    public var fit: Size?
    /// Pixels by point of the result: ``Image/scale`` (1).
    public var scale = 1.0
    /// Pixels of the image as it is stored (50,000,000).
    public var maxPixels = 50_000_000
    /// Bytes of the decoded image, and of what a decoder has to keep whole (256 MiB).
    public var maxBytes = 256 << 20
    /// Whether the orientation that EXIF tells is ignored (false).
    public var ignoresOrientation = false

    /// The defaults.
    public init() {}

    /// The defaults, with a largest size.
    public init(fit: Size) {
        self.fit = fit
    }
}
