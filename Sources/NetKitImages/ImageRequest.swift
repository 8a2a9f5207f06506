#if Images
public import NetKit

/// A request for an image, with its options.
public struct ImageRequest: Sendable {
    /// Which caches a request may use.
    public enum CachePolicy: Sendable, Hashable {
        /// The image cache is used first. Otherwise the request is sent, and the agent's own cache applies.
        case useCaches
        /// No cache is used; the image is loaded from the server. It then replaces the one in the image cache.
        case reload
        /// Only the image cache is used. If the image is not there, the request fails with `NetError.Code.notCached`,
        /// and nothing is sent.
        case onlyCached
    }

    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String
    /// The header fields. `Accept: image/*` is added if there is no Accept field.
    public var headers: Headers
    /// The decoding options.
    public var options: ImageOptions
    /// Which caches the request may use.
    public var cachePolicy = CachePolicy.useCaches
    /// The priority among waiting transfers.
    public var priority = Priority.normal
    /// A name that distinguishes several cached images for the same request, such as a rounded version. `nil` stands
    /// for the original image.
    public var variant: String?

    /// Creates a request.
    public init(_ url: String, headers: Headers = [:], options: ImageOptions = ImageOptions()) {
        self.url = url
        self.headers = headers
        self.options = options
    }

    /// The request to send.
    var request: Request<Image> {
        var request = Request<Image>(url, headers: headers, options: options)
        if request.headers["Accept"] == nil {
            request.headers["Accept"] = "image/*"
        }
        if cachePolicy == .reload {
            request.headers["Cache-Control"] = "no-cache"
        }
        request.priority = priority
        return request
    }
}
#endif
