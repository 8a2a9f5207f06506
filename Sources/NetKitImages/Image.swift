public import NetKit

/// A decoded image. Its pixels are red, green, blue and alpha, 8 bits each, with straight (not premultiplied) alpha.
public struct Image: Sendable, Hashable {
    /// The width in pixels.
    public let width: Int
    /// The height in pixels.
    public let height: Int
    /// Pixels per point: 2 for an image that is shown at half its width.
    public let scale: Double
    /// The pixels by rows, starting at the upper left; `byteCount` bytes.
    public let pixels: [UInt8]

    /// Creates an image.
    ///
    /// Throws `NetError.Code.usage` unless there are width × height × 4 bytes and the scale is more than 0.
    public init(width: Int, height: Int, pixels: [UInt8], scale: Double = 1) throws(NetError) {
        let (count, isTooLarge) = width.multipliedReportingOverflow(by: height)
        guard width > 0, height > 0, !isTooLarge, count <= Int.max / 4, pixels.count == count * 4, scale > 0 else {
            throw NetError(.usage, "\(pixels.count) bytes are no image of \(width) by \(height) pixels")
        }
        self.init(width: width, height: height, scale: scale, checked: pixels)
    }

    init(width: Int, height: Int, scale: Double, checked pixels: [UInt8]) {
        self.width = width
        self.height = height
        self.scale = scale
        self.pixels = pixels
    }

    /// The cost in memory and in a cache: width × height × 4.
    public var byteCount: Int { pixels.count }

    /// The displayed size: pixels divided by ``scale``.
    public var pointSize: (width: Double, height: Double) { (Double(width) / scale, Double(height) / scale) }

    /// The bytes of one pixel: red, green, blue, alpha.
    public subscript(column: Int, row: Int) -> [UInt8] {
        let start = (row * width + column) * 4
        return Array(pixels[start..<start + 4])
    }
}
