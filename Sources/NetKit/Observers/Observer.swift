/// Observes calls without changing them.
///
/// An observer is called synchronously on the thread on which the change happens, and concurrently for different calls.
/// It must not block. Each call reports ``Event/Change/started``, ``Event/Change/stopping(_:)`` and
/// ``Event/Change/stopped`` once each, even if it is cancelled.
public protocol Observer: Sendable {
    /// Receives a change.
    func observe(_ event: Event)
}

/// A change in the state of one call.
public struct Event: Sendable {
    /// The kind of a change.
    public enum Change: Sendable {
        /// The call begins. Nothing has been done for it yet. The event's request is the caller's.
        case started
        /// A request is passed to the transport. The number counts the transfers of the call, from 1. The event's
        /// request is the one that is sent.
        case exchangeStarted(Int)
        /// The transport returned a response or an error. If the body is streamed, the response has no body yet.
        case exchangeEnded(Int, Outcome)
        /// An interceptor delays the call for this time.
        case waiting(Duration, WaitReason)
        /// The response shows that the credentials of the request are refused. The app can ask the user for others and
        /// send ``Event/request`` again. The text is the service's message.
        case credentialsRefused(String)
        /// The cache has returned a stored response, or has received one from the network.
        case cacheReported(CacheReport)
        /// The cache could not store the response.
        case notStored(NetError)
        /// The bodies of the call are paused in both directions, because its request task or its transfer was paused.
        /// It is not reported again until the call resumes.
        case suspended
        /// The call continues after ``suspended``.
        case resumed
        /// A response head arrived, which may be that of a redirect. The agent's own transport reports it immediately
        /// and on the agent's thread.
        case headReceived(ResponseHead)
        /// A download tried to continue an earlier one. It continues at `offset`, which is 0 if it begins again. `total`
        /// is the size of the file, or `nil` if it is unknown.
        case downloadResumed(offset: Int, total: Int?)
        /// A redirect with this head is followed to this URL.
        case redirected(ResponseHead, to: String)
        /// The hook `head` of ``TransferHooks`` returned its decision about the response.
        case headDecided(ResponseDisposition)
        /// The challenge hook or the credential store has responded to a challenge.
        case challenged(Challenge, ChallengeAction)
        /// The body is created again, because the request is sent again. The number counts the sends, from 2.
        case bodyRenewed(Int)
        /// The response is about to be stored in the cache.
        case storing(StorableResponse)
        /// The metrics of the call's last transfer, hop by hop. Reported before ``stopping(_:)``, if there was a
        /// transfer.
        case metricsCollected(Metrics)
        /// The call has ended, and so has its streamed body. The caller receives the outcome next.
        case stopping(Outcome)
        /// The caller has received the outcome.
        case stopped
    }

    /// The reason for which an interceptor waits.
    public enum WaitReason: Sendable, Hashable {
        /// The request will be sent again.
        case retry
        /// Too many requests were sent recently.
        case rateLimit
        /// No network path is available. The duration is the remaining time limit of the wait; zero means no limit.
        case connectivity
    }

    /// The result of a call or a transfer.
    public enum Outcome: Sendable {
        /// The call or the transfer has a response. It does not include a body that was written to a file or an output.
        case answered(Response<Bytes>)
        /// The call or the transfer has failed.
        case failed(NetError)
    }

    /// The number of the call, unique in the process.
    public let callID: UInt64
    /// The request at the time of the change, without its ``Request/observers``.
    public let request: Request<Bytes>
    /// The time since the call began.
    public let elapsed: Duration
    /// The change.
    public let change: Change
}

extension Request {
    /// The observers of this request. They are called after the agent's observers.
    public var observers: [any Observer] {
        get { callSettings?.value.observers ?? [] }
        set { settings.observers = newValue }
    }
}
