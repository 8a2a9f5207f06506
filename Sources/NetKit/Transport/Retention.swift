/// Whether and where an agent remembers what servers tell it.
public enum Retention: Sendable, Hashable {
    /// It is not remembered.
    case off
    /// In memory, as long as the agent lives.
    case memory
    /// In a file, from one agent to the next; it may be missing. A relative path is told from the directory in which the
    /// agent is made. Should it not be possible to save it, ``AgentEvent/saveFailed(_:)`` says so.
    case file(String)
}
