public import NetKit

/// AFNetworking's, WebP, the names under which ICO, JPEG, PNG and BMP are registered or met, and the types of unknown bytes
/// that object stores send by default. The bytes tell what it is.
let imageTypes = [
    "image/tiff", "image/jpeg", "image/gif", "image/png", "image/ico", "image/x-icon", "image/bmp", "image/x-bmp",
    "image/x-xbitmap", "image/x-win-bitmap", "image/webp", "image/vnd.microsoft.icon", "image/jpg", "image/pjpeg",
    "image/x-png", "image/apng", "image/x-webp", "image/x-ms-bmp", "image/x-citrix-jpeg", "image/x-citrix-png",
    "application/octet-stream", "binary/octet-stream",
]

extension Decoding where Value == Image {
    /// A PNG, JPEG or WebP body, decoded; what it is, its bytes tell. Another body is an error, an empty one too.
    public static var image: Decoding { image(ImageOptions()) }

    /// A PNG, JPEG or WebP body, decoded as the options say.
    public static func image(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try Image($0.bytes, options) }
    }
}

extension Decoding where Value == EncodedImage {
    /// An image body of any known kind, recognized and not decoded.
    public static var encodedImage: Decoding { encodedImage(ImageOptions()) }

    /// An image body of any known kind, as large as the options allow, recognized and not decoded.
    public static func encodedImage(_ options: ImageOptions) -> Decoding {
        Decoding(types: imageTypes) { try EncodedImage($0.bytes, options) }
    }
}

extension Request where Value == Image {
    /// Asks for an image; statuses from 200 to 299, types of images or of unknown bytes.
    public init(
        _ url: String, parameters: Parameters? = nil, headers: Headers = [:], options: ImageOptions = ImageOptions()
    ) {
        self.init(url, parameters: parameters, headers: headers, decoding: .image(options))
    }
}

extension Request where Value == EncodedImage {
    /// Asks for an image that is recognized and not decoded; statuses from 200 to 299, types of images or of unknown bytes.
    public init(_ url: String, parameters: Parameters? = nil, headers: Headers = [:]) {
        self.init(url, parameters: parameters, headers: headers, decoding: .encodedImage)
    }
}
