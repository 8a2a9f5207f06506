/// Hears what the transfers of one exchange meet, on the loop thread: for whoever watches the call.
final class TransferTap: Sendable {
    /// A transfer began under this number.
    let began: @Sendable (UInt64) -> Void
    /// A head came: a redirect's when the flag is false.
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
    /// Who hears what its transfers meet.
    var tap: TransferTap? {
        get { hasNotes ? self[TransferTapNote.self] : nil }
        set { self[TransferTapNote.self] = newValue }
    }
}
