import NetKit

/// Places for images side by side, by key: those of a button, say, by its state and by whether it is the background.
///
///     let slots = ImageSlots<ControlState>(downloader) { state, image in button.set(image, for: state) }
///     slots[.highlighted].load(ImageRequest(url))
@MainActor public final class ImageSlots<Key: Hashable & Sendable> {
    private let downloader: ImageDownloader
    private let show: @MainActor (Key, Image?) -> Void
    private var slots: [Key: ImageSlot] = [:]

    /// Empty places.
    ///
    /// - Parameters:
    ///   - downloader: loads them.
    ///   - show: shows an image in the place of a key; nil is none.
    public init(_ downloader: ImageDownloader, show: @escaping @MainActor (Key, Image?) -> Void) {
        self.downloader = downloader
        self.show = show
    }

    /// The place of a key, which is there when it is first asked for.
    public subscript(key: Key) -> ImageSlot {
        if let slot = slots[key] {
            return slot
        }
        let slot = ImageSlot(downloader) { [show] image in show(key, image) }
        slots[key] = slot
        return slot
    }

    /// Drops what is on its way to any of them.
    public func cancelAll() {
        for slot in slots.values {
            slot.cancel()
        }
    }
}
