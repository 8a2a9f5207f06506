#if Images
public import NetKit

/// The content types that are accepted for images. They are AFNetworking's types, WebP, other common names of ICO,
/// JPEG, PNG and BMP, and the generic types that object stores send by default. The format is determined by the bytes
/// and not by the type.
let imageTypes = [
    "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
    "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "image/vnd.microsoft.icon", "image/jpg", "image/pjpeg",
    "image/x-png", "image/apng", "image/x-webp", "image/x-ms-bmp", "image/x-citrix-jpeg", "image/x-citrix-png",
    "application/octet-stream", "binary/octet-stream",
]

extension Decoding where Value == Image {
    /// Decodes a PNG, JPEG or WebP body. The bytes determine the format. Any other body, including an empty one, is an
    /// error.
    public static var image: Decoding { image(ImageOptions()) }

    /// Decodes a PNG, JPEG or WebP body with these options.
    public static func image(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try Image($0.bytes, options) }
    }
}

extension Decoding where Value == EncodedImage {
    /// Identifies an image of any known format, without decoding it.
    public static var encodedImage: Decoding { encodedImage(ImageOptions()) }

    /// Identifies an image of any known format, without decoding it. The limits of the options apply.
    public static func encodedImage(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try EncodedImage($0.bytes, options) }
    }
}

extension Request where Value == Image {
    /// Creates a request for an image. Accepts statuses from 200 to 299, and content types of images and of unspecified
    /// binary data.
    public init(
        _ url: String, parameters: Parameters? = nil, headers: Headers = [:], options: ImageOptions = ImageOptions()
    ) {
        self.init(url, parameters: parameters, headers: headers, decoding: .image(options))
    }
}

extension Request where Value == EncodedImage {
    /// Creates a request for an image that is identified but not decoded. Accepts statuses from 200 to 299, and content
    /// types of images and of unspecified binary data.
    public init(_ url: String, parameters: Parameters? = nil, headers: Headers = [:]) {
        self.init(url, parameters: parameters, headers: headers, decoding: .encodedImage)
    }
}
#endif
