public import NetKit

/// Shows one image at a time in any kind of view, as AFNetworking does for image views.
///
///     let slot = ImageSlot(downloader) { view.image = $0 }
///     slot.load(ImageRequest(url), placeholder: grey)
///
/// A request for the image that is being loaded is ignored, except for a reload. Any other request replaces it, and the
/// earlier result is dropped. A cached image is shown immediately.
@MainActor public final class ImageSlot {
    /// Receives the loaded image.
    public typealias Success = @MainActor @Sendable (LoadedImage) -> Void
    /// Receives the error.
    public typealias Failure = @MainActor @Sendable (NetError) -> Void

    /// The downloader of the images. A change applies to the next request.
    public var downloader: ImageDownloader
    /// The request in flight, or `nil`.
    public private(set) var active: ImageRequest?

    private let show: @MainActor (Image?) -> Void
    private var receipt: ImageReceipt?
    /// Incremented by each request, to recognize the results of earlier ones.
    private var turn = 0

    /// Creates an empty slot.
    ///
    /// - Parameters:
    ///   - downloader: loads the images.
    ///   - show: shows an image; `nil` shows none.
    public init(_ downloader: ImageDownloader, show: @escaping @MainActor (Image?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// Loads an image and shows it.
    ///
    /// - Parameters:
    ///   - request: if `nil` or without a URL, the slot shows the placeholder, or nothing, and fails immediately with
    ///     `NetError.Code.badURL`.
    ///   - placeholder: shown until the image is loaded, unless it is cached. If `nil`, the current image remains.
    ///   - success: called instead of showing the image.
    ///   - failure: called with an error, but not after ``cancel()`` or when another request replaced this one.
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

    /// Cancels the request in flight. The current image remains.
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
    /// Returns whether a load with this policy also satisfies the other policy.
    fileprivate func asksAsMuch(as other: Self) -> Bool {
        switch (self, other) {
        case (.reload, _), (_, .onlyCached), (.useCaches, .useCaches): true
        default: false
        }
    }
}
