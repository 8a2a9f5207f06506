/// Watches what becomes of calls, and changes nothing.
///
/// It is told at once, on whatever thread the change happens, and on many at once; it must not block. Each call is
/// told as ``Event/Change/started`` once, at its end ``Event/Change/stopping(_:)`` once and ``Event/Change/stopped``
/// once, also when it is cancelled.
public protocol Observer: Sendable {
    /// Takes note of a change.
    func observe(_ event: Event)
}

/// A change in the state of one call.
public struct Event: Sendable {
    /// What happened.
    public enum Change: Sendable {
        /// The call begins: nothing has been done for it yet. The request is as it was asked.
        case started
        /// A request goes to the transport: the first time, or once more, counted from 1. The request is as it is sent.
        case exchangeStarted(Int)
        /// The transport answered or failed: with the head, where the body is streamed.
        case exchangeEnded(Int, Outcome)
        /// An interceptor holds the call up for so long.
        case waiting(Duration, WaitReason)
        /// What came back means that the caller's credentials will not do; the app may ask for others, and send
        /// ``Event/request`` again. The text is what the service said.
        case credentialsRefused(String)
        /// The cache has answered, or let the call go on to the network and has its answer.
        case cacheReported(CacheReport)
        /// The cache could not store the answer.
        case notStored(NetError)
        /// The call's body rests both ways: its start was paused, or its transfer was. Told once until it goes on.
        case suspended
        /// The call goes on after ``suspended``.
        case resumed
        /// A head came, a redirect's too. Over the engine it is told at once, on its thread, unless it is a download's.
        case headReceived(ResponseHead)
        /// A redirect with this head is followed to this URL.
        case redirected(ResponseHead, to: String)
        /// ``TransferHooks/head`` has decided what becomes of the response.
        case headDecided(HeadAnswer)
        /// Somebody was asked for credentials, and has answered.
        case challenged(Challenge, ChallengeAnswer)
        /// The body is made once more, for the so many-eth time it is sent, counted from 2.
        case bodyRenewed(Int)
        /// The answer is about to be put into the cache.
        case storing(StorableAnswer)
        /// What the call's last exchange cost, hop by hop; told before ``stopping(_:)`` where there was one.
        case metricsCollected(Metrics)
        /// The call is over, a streamed body included, and its caller is about to be told.
        case stopping(Outcome)
        /// The caller was told.
        case stopped
    }

    /// Why an interceptor waits.
    public enum WaitReason: Sendable, Hashable {
        /// The request is to be sent once more.
        case retry
        /// Too many were sent lately.
        case rateLimit
        /// There is no way to the network; the time is what is left of the request's own, zero for no limit.
        case connectivity
    }

    /// How something ended.
    public enum Outcome: Sendable {
        /// With a response; a body that went elsewhere is not in it.
        case answered(Response<Bytes>)
        /// With an error.
        case failed(NetError)
    }

    /// The call's number, unique in the process.
    public let callID: UInt64
    /// What is asked, as it was at that moment, but for ``Request/observers``.
    public let request: Request<Bytes>
    /// How long after the call's start.
    public let elapsed: Duration
    /// What happened.
    public let change: Change
}

private enum ObserversNote: RequestNote {
    static let standard: [any Observer] = []
}

extension Request {
    /// Who watches this request alone, after those who watch the agent.
    public var observers: [any Observer] {
        get { self[ObserversNote.self] }
        set { self[ObserversNote.self] = newValue }
    }
}
