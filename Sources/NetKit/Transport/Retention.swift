/// Whether and where an agent remembers what servers tell it.
public enum Retention: Sendable, Hashable {
    /// It is not remembered.
    case off
    /// In memory, as long as the agent lives.
    case memory
    /// In a file, from one agent to the next; it may be missing.
    case file(String)
}
