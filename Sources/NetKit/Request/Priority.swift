/// Which of the requests that wait for a slot goes first.
public enum Priority: Sendable, Hashable {
    /// Before all others.
    case high
    /// Neither first nor last.
    case normal
    /// When no other waits.
    case low
}
