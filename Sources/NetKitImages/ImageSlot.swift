#if Images
public import NetKit

/// Loads images for a view of any kind that shows one image at a time, like AFNetworking's category on image views.
///
///     let slot = ImageSlot(downloader) { view.image = $0 }
///     slot.load(ImageRequest(url), placeholder: grey)
///
/// A new request replaces the request in flight, whose result is then ignored. A new request for the image that is
/// already being loaded has no effect, except for a reload. A cached image is shown immediately.
@MainActor public final class ImageSlot {
    /// A closure that receives the loaded image.
    public typealias Success = @MainActor @Sendable (LoadedImage) -> Void
    /// A closure that receives the error.
    public typealias Failure = @MainActor @Sendable (NetError) -> Void

    /// The downloader of the images. A change applies to the next request.
    public var downloader: ImageDownloader
    /// The request in flight, or `nil`.
    public private(set) var active: ImageRequest?

    private let show: @MainActor (Image?) -> Void
    private var requestToken: ImageRequestToken?
    /// The number of the current request, by which results of earlier requests are recognized and ignored.
    private var requestNumber = 0

    /// Creates an empty slot.
    ///
    /// - Parameters:
    ///   - downloader: the downloader of the images.
    ///   - show: shows an image in the view, or removes the current one for `nil`.
    public init(_ downloader: ImageDownloader, show: @escaping @MainActor (Image?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// Loads an image and shows it.
    ///
    /// - Parameters:
    ///   - request: the request. If it is `nil` or has no URL, the slot shows the placeholder, or nothing, and
    ///     `failure` is called immediately with `NetError.Code.badURL`.
    ///   - placeholder: an image that is shown until the requested one is loaded, unless that is cached. If `nil`, the
    ///     current image remains.
    ///   - success: called with the loaded image. If it is set, the slot does not show the image itself.
    ///   - failure: called with the error. It is not called after ``cancel()``, or if another request replaced this
    ///     one.
    public func load(
        _ request: ImageRequest?, placeholder: Image? = nil, success: Success? = nil, failure: Failure? = nil
    ) {
        guard let request, !request.url.isEmpty else {
            cancel()
            show(placeholder)
            failure?(NetError(.badURL, "the request has no image URL"))
            return
        }
        let key = ImageKey(request)
        if let active, ImageKey(active) == key, active.cachePolicy.satisfies(request.cachePolicy) {
            return
        }
        cancel()
        if let cachedImage = try? downloader.imageFromCache(for: request, key) {
            finish(cachedImage, success)
            return
        }
        if let placeholder {
            show(placeholder)
        }
        active = request
        let requestNumber = requestNumber
        requestToken = downloader.download(request) { [weak self] outcome in
            self?.handle(outcome, of: requestNumber, success, failure)
        }
    }

    /// Cancels the request in flight. The current image remains.
    public func cancel() {
        requestNumber += 1
        active = nil
        if let requestToken {
            self.requestToken = nil
            downloader.cancel(requestToken)
        }
    }

    private func handle(
        _ outcome: Result<LoadedImage, NetError>, of requestNumber: Int, _ success: Success?, _ failure: Failure?
    ) {
        guard requestNumber == self.requestNumber else { return }
        active = nil
        requestToken = nil
        switch outcome {
        case .success(let loaded): finish(loaded, success)
        case .failure(let error): failure?(error)
        }
    }

    private func finish(_ loaded: LoadedImage, _ success: Success?) {
        if let success {
            success(loaded)
        } else {
            show(loaded.image)
        }
    }
}

extension ImageRequest.CachePolicy {
    /// Returns true if a request with this policy makes another request with the other policy unnecessary.
    fileprivate func satisfies(_ other: Self) -> Bool {
        switch (self, other) {
        case (.reload, _), (_, .onlyCached), (.useCaches, .useCaches): true
        default: false
        }
    }
}
#endif
