import NetKit

/// Several image slots by key, such as those of a button by its state.
///
///     let slots = ImageSlots<ControlState>(downloader) { state, image in button.set(image, for: state) }
///     slots[.highlighted].load(ImageRequest(url))
@MainActor public final class ImageSlots<Key: Hashable & Sendable> {
    private let downloader: ImageDownloader
    private let show: @MainActor (Key, Image?) -> Void
    private var slots: [Key: ImageSlot] = [:]

    /// Creates empty slots.
    ///
    /// - Parameters:
    ///   - downloader: loads the images.
    ///   - show: shows an image for a key; `nil` shows none.
    public init(_ downloader: ImageDownloader, show: @escaping @MainActor (Key, Image?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// The slot of a key, which is created when it is first used.
    public subscript(key: Key) -> ImageSlot {
        if let slot = slots[key] {
            return slot
        }
        let slot = ImageSlot(downloader) { [show] image in show(key, image) }
        slots[key] = slot
        return slot
    }

    /// Cancels the requests in flight of all slots.
    public func cancelAll() {
        for slot in slots.values {
            slot.cancel()
        }
    }
}
