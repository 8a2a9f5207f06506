/// Receives the events of one call's transfers on the event loop thread, for the call's observers.
final class TransferTap: Sendable {
    /// Called when a transfer began, with its number.
    let began: @Sendable (UInt64) -> Void
    /// Called for each head; the flag is false for a redirect.
    let headArrived: @Sendable (ResponseHead, Bool) -> Void

    init(
        began: @escaping @Sendable (UInt64) -> Void, headArrived: @escaping @Sendable (ResponseHead, Bool) -> Void
    ) {
        self.began = began
        self.headArrived = headArrived
    }
}

private enum TransferTapNote: RequestNote {
    static let standard: TransferTap? = nil
}

extension Request {
    /// The receiver of its transfers' events.
    var tap: TransferTap? {
        get { hasNotes ? self[TransferTapNote.self] : nil }
        set { self[TransferTapNote.self] = newValue }
    }
}
