/// The order of requests that wait for a slot.
public enum Priority: Sendable, Hashable {
    /// Starts before all others.
    case high
    /// Starts after high and before low priority.
    case normal
    /// Starts when no other request waits.
    case low
}
