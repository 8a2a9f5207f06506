public import NetKit

/// AFNetworking's types, WebP, the registered and common names of ICO, JPEG, PNG and BMP, and the generic types that
/// object stores send by default. The bytes determine the format.
let imageTypes = [
    "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
    "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "image/vnd.microsoft.icon", "image/jpg", "image/pjpeg",
    "image/x-png", "image/apng", "image/x-webp", "image/x-ms-bmp", "image/x-citrix-jpeg", "image/x-citrix-png",
    "application/octet-stream", "binary/octet-stream",
]

extension Decoding where Value == Image {
    /// A decoded PNG, JPEG or WebP body. Its bytes determine the format. Any other body, including an empty one, is an
    /// error.
    public static var image: Decoding { image(ImageOptions()) }

    /// A PNG, JPEG or WebP body, decoded with these options.
    public static func image(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try Image($0.bytes, options) }
    }
}

extension Decoding where Value == EncodedImage {
    /// An image body of any known format, identified but not decoded.
    public static var encodedImage: Decoding { encodedImage(ImageOptions()) }

    /// An image body of any known format within the limits of the options, identified but not decoded.
    public static func encodedImage(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try EncodedImage($0.bytes, options) }
    }
}

extension Request where Value == Image {
    /// Creates a request for an image. Accepts statuses from 200 to 299 and the types of images or of generic bytes.
    public init(
        _ url: String, parameters: Parameters? = nil, headers: Headers = [:], options: ImageOptions = ImageOptions()
    ) {
        self.init(url, parameters: parameters, headers: headers, decoding: .image(options))
    }
}

extension Request where Value == EncodedImage {
    /// Creates a request for an image that is identified but not decoded. Accepts statuses from 200 to 299 and the
    /// types of images or of generic bytes.
    public init(_ url: String, parameters: Parameters? = nil, headers: Headers = [:]) {
        self.init(url, parameters: parameters, headers: headers, decoding: .encodedImage)
    }
}
