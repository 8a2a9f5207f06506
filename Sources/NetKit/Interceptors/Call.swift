internal import Synchronization

/// One call on its way through the interceptors.
public struct Call: Sendable, Identifiable {
    /// The destination of the body.
    public enum Kind: Sendable, Hashable {
        /// In memory.
        case send
        /// A stream.
        case stream
        /// The file at ``Request/savePath``.
        case save
    }

    /// Its number, unique in the process and the same for all transfers of the call.
    public let id: UInt64
    /// The request with an absolute URL and everything that the agent adds.
    public var request: Request<Bytes>
    /// The destination of the body.
    public let kind: Kind
    let watch: Watch?
    /// The original request; `nil` in a call that a test created.
    var origin: CallOrigin?
    /// The time for all of it.
    var budget: TimeBudget

    /// Creates a call for a test.
    public init(_ request: Request<Bytes>, kind: Kind = .send) {
        self.init(request, kind: kind, watch: nil)
    }

    init(_ request: Request<Bytes>, kind: Kind, watch: Watch?, budget: TimeBudget? = nil) {
        id = watch?.id ?? request.ticket?.take() ?? CallNumber.next()
        self.request = request
        self.kind = kind
        self.watch = watch
        let own = self.request.takeBudget()
        self.budget = budget ?? own ?? TimeBudget(request.limits?.total)
    }

    /// Whether the request's body can be sent again.
    var isRepeatable: Bool { request.body?.isRepeatable ?? true }
}

/// Numbers of calls, from 1.
enum CallNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
