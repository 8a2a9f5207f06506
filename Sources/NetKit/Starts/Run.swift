/// What was started, as it was a moment ago: a request, a batch or a chain.
public struct Run: Sendable, Identifiable {
    /// What kind of thing was started.
    public enum Kind: Sendable, Hashable {
        /// One request.
        case request
        /// Several at once.
        case batch
        /// Several, each after those that it needs.
        case chain
    }

    /// How far it is.
    public enum State: Sendable, Hashable {
        /// It is being described, held up before it is sent, or waits for a slot.
        case waiting
        /// It is under way.
        case running
        /// It is over, and those who wait are being told.
        case stopping
        /// It is over, and those who wait were told.
        case stopped
    }

    /// Its number, unique in the process; that of its ``Call`` and its ``Event``s, too.
    public let id: UInt64
    /// What kind of thing was started.
    public let kind: Kind
    /// The caller's number for it; 0 says nothing.
    public internal(set) var tag = 0
    /// What the caller wants to find again with it.
    public internal(set) var userInfo: [String: any Sendable] = [:]
    /// The name of the type that describes it; empty for a plain ``Request``.
    public internal(set) var name = ""
    /// The request's method; nil until it is described, and for batches and chains.
    public internal(set) var method: Method?
    /// The request's URL as it was asked; nil until it is described, and for batches and chains.
    public internal(set) var url: String?
    /// How far it is.
    public internal(set) var state = State.waiting
    /// Whether it is held up by its caller.
    public internal(set) var isPaused = false
    /// Whether it was cancelled in time.
    public internal(set) var isCancelled = false

    init(id: UInt64 = CallNumber.next(), kind: Kind) {
        self.id = id
        self.kind = kind
    }
}
