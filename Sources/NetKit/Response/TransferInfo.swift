/// A snapshot of one transfer that has not ended.
public struct TransferInfo: Sendable, Hashable, Identifiable {
    /// The state of a transfer.
    public enum State: Sendable, Hashable {
        /// Waits for a slot.
        case waiting
        /// Connects.
        case connecting
        /// Sends its request.
        case sending
        /// Waits for the first response byte.
        case awaitingReply
        /// Receives its response.
        case receiving
    }

    /// Its number, unique within the agent.
    public let id: UInt64
    /// Its state.
    public let state: State
    /// Its priority while it waits.
    public let priority: Priority
    /// Whether it is paused, by ``Agent/pause(_:)`` or because its reader is slow.
    public let isPaused: Bool
    /// The time since it was sent.
    public let age: Duration
    /// The body bytes sent in the current hop.
    public let sentBytes: Int
    /// The body bytes received in the current hop, before decoding.
    public let receivedBytes: Int
    /// The first requested URL, without credentials.
    public let url: String
}
