internal import Synchronization

/// One request on its way through the interceptors.
public struct Call: Sendable, Identifiable {
    /// What the caller wants of the body.
    public enum Kind: Sendable, Hashable {
        /// The whole of it in memory.
        case send
        /// Piece by piece.
        case stream
        /// In the file at ``Request/savePath``.
        case save
    }

    /// Its number, unique in the process and the same in every exchange that it takes.
    public let id: UInt64
    /// What is asked: the URL is absolute, and what the agent adds has been added.
    public var request: Request<Bytes>
    /// What the caller wants of the body.
    public let kind: Kind
    let watch: Watch?
    /// How the request was asked; nil in a call that a test made.
    var origin: CallOrigin?

    /// A call as a test makes it.
    public init(_ request: Request<Bytes>, kind: Kind = .send) {
        self.init(request, kind: kind, watch: nil)
    }

    init(_ request: Request<Bytes>, kind: Kind, watch: Watch?) {
        id = watch?.id ?? request.ticket?.take() ?? CallNumber.next()
        self.request = request
        self.kind = kind
        self.watch = watch
    }

    /// Whether the request's body can be sent once more.
    var isRepeatable: Bool { request.body?.isRepeatable ?? true }
}

/// Numbers for calls, from 1.
enum CallNumber {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
