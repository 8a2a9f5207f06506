#if Images
internal import CNetImages
import NetKit

/// Calls the image decoders and the PNG encoder, which are written in C.
enum ImageCodec {
    /// The properties of an encoded image, and its size after decoding.
    struct Plan {
        let format: ImageFormat
        let storedWidth: Int
        let storedHeight: Int
        let orientation: Int
        let isAnimated: Bool
        let width: Int
        let height: Int
    }

    /// Returns the properties of an image.
    ///
    /// - Parameter isForDecoding: whether a format that cannot be decoded is an error.
    static func plan(
        of bytes: Bytes, by options: ImageOptions, isForDecoding: Bool = false
    ) throws(NetError) -> Plan {
        var cOptions = try nc_image_options(options)
        var plan = nc_image_plan()
        var error = nc_image_error()
        let status = bytes.withSpan { span in
            unsafe span.withUnsafeBufferPointer { buffer in
                unsafe nc_image_measure(&plan, buffer.baseAddress, buffer.count, &cOptions, &error)
            }
        }
        guard status == .NC_IMAGE_OK || (status == .NC_IMAGE_UNSUPPORTED && !isForDecoding),
            let format = ImageFormat(plan.format)
        else { throw NetError(error) }
        return Plan(
            format: format, storedWidth: Int(plan.stored_width), storedHeight: Int(plan.stored_height),
            orientation: Int(plan.orientation), isAnimated: plan.is_animated, width: Int(plan.width),
            height: Int(plan.height))
    }

    static func decode(_ bytes: Bytes, by options: ImageOptions) throws(NetError) -> Image {
        let plan = try plan(of: bytes, by: options, isForDecoding: true)
        var cOptions = try nc_image_options(options)
        var error = nc_image_error()
        var status = nc_image_status.NC_IMAGE_OK
        let byteCount = plan.width * plan.height * 4
        let pixels = unsafe [UInt8](unsafeUninitializedCapacity: byteCount) { target, count in
            guard let start = target.baseAddress else { return status = .NC_IMAGE_NO_MEMORY }
            // All elements must be initialized, because a decoder that fails may not have written all of them.
            unsafe target.initialize(repeating: 0)
            status = bytes.withSpan { span in
                unsafe span.withUnsafeBufferPointer { buffer in
                    unsafe nc_image_decode(
                        start, byteCount, buffer.baseAddress, buffer.count, &cOptions, &error)
                }
            }
            count = byteCount
        }
        guard status == .NC_IMAGE_OK else { throw NetError(error) }
        return Image(width: plan.width, height: plan.height, scale: options.scale, checked: pixels)
    }

    static func png(of image: Image) throws(NetError) -> Bytes {
        var error = nc_image_error()
        var output: UnsafeMutablePointer<UInt8>?
        var count = 0
        let status = unsafe image.pixels.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return nc_image_status.NC_IMAGE_USAGE }
            return unsafe nc_image_write_png(
                &output, &count, start, UInt32(image.width), UInt32(image.height), &error)
        }
        guard status == .NC_IMAGE_OK else { throw NetError(error) }
        defer { unsafe nc_image_free(output) }
        return Bytes(unsafe Array(UnsafeBufferPointer(start: output, count: count)))
    }
}

extension nc_image_options {
    fileprivate init(_ options: ImageOptions) throws(NetError) {
        let fit = options.fit ?? .init(width: 1, height: 1)
        let largest = Int(Int32.max)
        guard (1...largest).contains(fit.width), (1...largest).contains(fit.height), options.maxPixels > 0,
            options.maxBytes > 0, options.scale > 0
        else { throw NetError(.usage, "a size, limit or scale of the image options is out of range") }
        self.init()
        max_pixels = options.maxPixels
        max_bytes = options.maxBytes
        fit_width = options.fit == nil ? 0 : UInt32(fit.width)
        fit_height = options.fit == nil ? 0 : UInt32(fit.height)
        ignores_orientation = options.ignoresOrientation
    }
}

extension ImageFormat {
    fileprivate init?(_ format: nc_image_format) {
        switch format {
        case .NC_IMAGE_PNG: self = .png
        case .NC_IMAGE_JPEG: self = .jpeg
        case .NC_IMAGE_WEBP: self = .webp
        case .NC_IMAGE_GIF: self = .gif
        case .NC_IMAGE_BMP: self = .bmp
        case .NC_IMAGE_ICO: self = .ico
        case .NC_IMAGE_TIFF: self = .tiff
        case .NC_IMAGE_UNKNOWN: return nil
        @unknown default: return nil
        }
    }
}

extension NetError {
    init(_ error: nc_image_error) {
        let message = unsafe withUnsafeBytes(of: error.message) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        self.init(Code(error.status), message, nativeCode: Int(error.native_code))
    }
}

extension NetError.Code {
    fileprivate init(_ status: nc_image_status) {
        switch status {
        case .NC_IMAGE_OK: self = .internal
        case .NC_IMAGE_USAGE: self = .usage
        case .NC_IMAGE_NO_MEMORY: self = .noMemory
        case .NC_IMAGE_MALFORMED: self = .badImage
        case .NC_IMAGE_TOO_LARGE: self = .tooLarge
        case .NC_IMAGE_UNSUPPORTED, .NC_IMAGE_NO_PRESSURE: self = .unsupported
        @unknown default: self = .internal
        }
    }
}
#endif
