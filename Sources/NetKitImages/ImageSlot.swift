public import NetKit

/// A place that shows one image at a time, whatever kind of view it is: what AFNetworking adds to image views.
///
///     let slot = ImageSlot(downloader) { view.image = $0 }
///     slot.load(ImageRequest(url), placeholder: grey)
///
/// A request for what is on its way already is ignored, unless it asks where the earlier one does not: a reload is a
/// request of its own. Any other takes its place, and what comes of the earlier one is dropped. An image in the cache
/// is shown at once.
@MainActor public final class ImageSlot {
    /// Hears the image that was loaded.
    public typealias Success = @MainActor @Sendable (LoadedImage) -> Void
    /// Hears why there is none.
    public typealias Failure = @MainActor @Sendable (NetError) -> Void

    /// What gets the images; a change counts for the next request.
    public var downloader: ImageDownloader
    /// What is on its way; nil when nothing is.
    public private(set) var active: ImageRequest?

    private let show: @MainActor (Image?) -> Void
    private var receipt: ImageReceipt?
    /// Rises with each request, so that what comes of an earlier one is known.
    private var turn = 0

    /// An empty place.
    ///
    /// - Parameters:
    ///   - downloader: loads them.
    ///   - show: shows an image; nil is none.
    public init(_ downloader: ImageDownloader, show: @escaping @MainActor (Image?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// Loads an image and shows it.
    ///
    /// - Parameters:
    ///   - request: nil, or one without a URL, shows the placeholder, or nothing, and fails at once with
    ///     `NetError.Code.badURL`.
    ///   - placeholder: shown until the image is there, unless it is at once; nil leaves what is shown.
    ///   - success: called in place of showing the image.
    ///   - failure: called when there is none, and not after ``cancel()`` or when another request took its place.
    public func load(
        _ request: ImageRequest?, placeholder: Image? = nil, success: Success? = nil, failure: Failure? = nil
    ) {
        guard let request, !request.url.isEmpty else {
            cancel()
            show(placeholder)
            failure?(NetError(.badURL, "there is no URL of an image"))
            return
        }
        let key = ImageKey(request)
        if let active, ImageKey(active) == key, active.cachePolicy.asksAsMuch(as: request.cachePolicy) {
            return
        }
        cancel()
        if let kept = try? downloader.keptImage(for: request, key) {
            finish(kept, success)
            return
        }
        if let placeholder {
            show(placeholder)
        }
        active = request
        let turn = turn
        receipt = downloader.download(request) { [weak self] outcome in
            self?.take(outcome, of: turn, success, failure)
        }
    }

    /// Drops what is on its way; what is shown stays.
    public func cancel() {
        turn += 1
        active = nil
        if let receipt {
            self.receipt = nil
            downloader.cancel(receipt)
        }
    }

    private func take(
        _ outcome: Result<LoadedImage, NetError>, of turn: Int, _ success: Success?, _ failure: Failure?
    ) {
        guard turn == self.turn else { return }
        active = nil
        receipt = nil
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
    /// Whether an image that comes in this way will do for the other one.
    fileprivate func asksAsMuch(as other: Self) -> Bool {
        switch (self, other) {
        case (.reload, _), (_, .onlyCached), (.useCaches, .useCaches): true
        default: false
        }
    }
}
