#if Images
public import NetKit

/// A decoded image. Each pixel has four bytes: red, green, blue and alpha. Colors are not premultiplied by alpha.
public struct Image: Sendable, Hashable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// The number of pixels per point. It is 2, for example, for an image that is shown at half its width in pixels.
    public let scale: Double
    /// The bytes of the pixels, row by row from the upper left.
    public let pixels: [UInt8]

    /// Creates an image.
    ///
    /// Throws `NetError.Code.usage` unless there are width × height × 4 bytes and the scale is more than 0.
    public init(width: Int, height: Int, pixels: [UInt8], scale: Double = 1) throws(NetError) {
        let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !isTooLarge, count <= Int.max / 4, pixels.count == count * 4, scale > 0 else {
            throw NetError(.usage, "\(pixels.count) bytes do not match an image of \(width) by \(height) pixels")
        }
        self.init(width: width, height: height, scale: scale, checked: pixels)
    }

    init(width: Int, height: Int, scale: Double, checked pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.scale = scale
        self.pixels = pixels
    }

    /// The size in memory, and the cost in a cache: width × height × 4 bytes.
    public var byteCount: Int { pixels.count }

    /// The displayed size in points, which is the size in pixels divided by ``scale``.
    public var pointSize: (width: Double, height: Double) { (Double(width) / scale, Double(height) / scale) }

    /// The four bytes of one pixel: red, green, blue and alpha.
    public subscript(column: Int, row: Int) -> [UInt8] {
        let start = (row * width + column) * 4
        return Array(pixels[start..<start + 4])
    }
}
#endif
