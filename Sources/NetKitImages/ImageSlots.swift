#if Images
import NetKit

/// Several image slots, each with a key. A button, for example, can have a slot for each of its states.
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
    ///   - downloader: the downloader of the images.
    ///   - show: shows an image for a key, or removes the current one for `nil`.
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

    /// Cancels the requests of all slots.
    public func cancelAll() {
        for slot in slots.values {
            slot.cancel()
        }
    }
}
#endif
