/// Whether and where an agent stores what servers set, such as cookies.
public enum Retention: Sendable, Hashable {
    /// Does not store it.
    case off
    /// Stores it in memory, for the lifetime of the agent.
    case memory
    /// Stores it in a file, which persists between agents and may be missing. A relative path is resolved when the
    /// agent is created. A failure to save is reported as ``AgentEvent/saveFailed(_:)``.
    case file(String)
}
