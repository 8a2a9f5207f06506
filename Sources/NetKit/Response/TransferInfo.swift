/// One transfer that has not ended, as it was a moment ago.
public struct TransferInfo: Sendable, Hashable, Identifiable {
    /// What a transfer is doing.
    public enum State: Sendable, Hashable {
        /// It waits for a slot.
        case waiting
        /// It connects.
        case connecting
        /// Its request is on the way.
        case sending
        /// The server thinks.
        case awaitingReply
        /// Its response comes in.
        case receiving
    }

    /// Its number, never used twice by an agent.
    public let id: UInt64
    /// What it is doing.
    public let state: State
    /// Its place among those that wait.
    public let priority: Priority
    /// Whether it rests, because of ``Agent/pause(_:)`` or because its reader is slow.
    public let isPaused: Bool
    /// The time since it was sent.
    public let age: Duration
    /// Body bytes sent in the hop under way.
    public let sentBytes: Int
    /// Body bytes received in the hop under way, before decoding.
    public let receivedBytes: Int
    /// The URL that was asked first, without credentials.
    public let url: String
}
