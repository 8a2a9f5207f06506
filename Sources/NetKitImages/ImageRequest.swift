public import NetKit

/// What image to get, and how: a value.
public struct ImageRequest: Sendable {
    /// Which caches may answer.
    public enum CachePolicy: Sendable, Hashable {
        /// The image cache first, then what the agent does by itself.
        case useCaches
        /// The server is asked, whatever is in a cache on the way; the image then takes its place in the image cache.
        case reload
        /// The image cache alone: what is not there fails with `NetError.Code.notCached`, and nothing is sent.
        case onlyCached
    }

    /// The URL: absolute, or relative to the agent's base URL.
    public var url: String
    /// Fields; `Accept: image/*` is added where there is no Accept.
    public var headers: Headers
    /// How it is decoded.
    public var options: ImageOptions
    /// Which caches may answer.
    public var cachePolicy = CachePolicy.useCaches
    /// Its place among those that wait.
    public var priority = Priority.normal
    /// Tells apart images of one request that are kept side by side, such as one that was made round; nil is the image
    /// as it came.
    public var variant: String?

    /// An image.
    public init(_ url: String, headers: Headers = [:], options: ImageOptions = ImageOptions()) {
        self.url = url
        self.headers = headers
        self.options = options
    }

    /// As it is sent.
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
