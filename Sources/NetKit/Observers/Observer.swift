/// Observes calls without changing them.
///
/// An observer is called immediately, on the thread of the change, and concurrently for different calls. It must not
/// block. Each call reports ``Event/Change/started``, ``Event/Change/stopping(_:)`` and ``Event/Change/stopped`` once
/// each, even if it is cancelled.
public protocol Observer: Sendable {
    /// Receives a change.
    func observe(_ event: Event)
}

/// A change in the state of one call.
public struct Event: Sendable {
    /// The kind of a change.
    public enum Change: Sendable {
        /// The call begins, before any work is done for it. The event's request is the caller's.
        case started
        /// A request is passed to the transport, for the first time or again; counted from 1. The event's request is
        /// the one that is sent.
        case exchangeStarted(Int)
        /// The transport returned a response or an error. For a streamed body, the response is its head.
        case exchangeEnded(Int, Outcome)
        /// An interceptor delays the call for this time.
        case waiting(Duration, WaitReason)
        /// The response shows that the caller's credentials are not accepted. The application may ask for others and
        /// send ``Event/request`` again. The text is the service's message.
        case credentialsRefused(String)
        /// The cache has returned a response, or the network has, after the cache let the call continue.
        case cacheReported(CacheReport)
        /// The cache could not store the response.
        case notStored(NetError)
        /// The call's body is paused in both directions, because its task or its transfer was paused. Reported once
        /// until the call resumes.
        case suspended
        /// The call continues after ``suspended``.
        case resumed
        /// A response head arrived, which may be that of a redirect. Over the engine it is reported immediately and on
        /// the engine's thread, except for downloads.
        case headReceived(ResponseHead)
        /// A redirect with this head is followed to this URL.
        case redirected(ResponseHead, to: String)
        /// ``TransferHooks/head`` returned its decision on the response.
        case headDecided(HeadAnswer)
        /// A source of credentials was called, and returned.
        case challenged(Challenge, ChallengeAnswer)
        /// The body is created again. The number counts the sends, so it is at least 2.
        case bodyRenewed(Int)
        /// The response is about to be stored in the cache.
        case storing(StorableAnswer)
        /// The metrics of the call's last transfer, hop by hop. Reported before ``stopping(_:)``, if there was a
        /// transfer.
        case metricsCollected(Metrics)
        /// The call has ended, including a streamed body. Its caller is notified next.
        case stopping(Outcome)
        /// The caller was notified.
        case stopped
    }

    /// The reason for which an interceptor waits.
    public enum WaitReason: Sendable, Hashable {
        /// The request will be sent again.
        case retry
        /// Too many requests were sent recently.
        case rateLimit
        /// No network path is available. The time is what remains of the request's limit; zero means no limit.
        case connectivity
    }

    /// The result of a call or a transfer.
    public enum Outcome: Sendable {
        /// A response. A body that was written elsewhere is not part of it.
        case answered(Response<Bytes>)
        /// An error.
        case failed(NetError)
    }

    /// The call's number, unique in the process.
    public let callID: UInt64
    /// The request at that moment, without its ``Request/observers``.
    public let request: Request<Bytes>
    /// The time since the call began.
    public let elapsed: Duration
    /// The change.
    public let change: Change
}

private enum ObserversNote: RequestNote {
    static let standard: [any Observer] = []
}

extension Request {
    /// The observers of this request. They are called after the agent's observers.
    public var observers: [any Observer] {
        get { self[ObserversNote.self] }
        set { self[ObserversNote.self] = newValue }
    }
}
