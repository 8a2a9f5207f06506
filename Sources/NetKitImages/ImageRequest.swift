public import NetKit

/// A request for an image, with its options.
public struct ImageRequest: Sendable {
    /// The caches that may be used.
    public enum CachePolicy: Sendable, Hashable {
        /// The image cache first, then the agent's own policy.
        case useCaches
        /// The server, without any cache on the way. The image then replaces the one in the image cache.
        case reload
        /// Only the image cache. A missing image fails with `NetError.Code.notCached`, and nothing is sent.
        case onlyCached
    }

    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String
    /// The fields. `Accept: image/*` is added if there is no Accept.
    public var headers: Headers
    /// The decoding options.
    public var options: ImageOptions
    /// The caches that may be used.
    public var cachePolicy = CachePolicy.useCaches
    /// The priority among waiting transfers.
    public var priority = Priority.normal
    /// Distinguishes cached images of one request, such as a rounded version; `nil` is the original image.
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
