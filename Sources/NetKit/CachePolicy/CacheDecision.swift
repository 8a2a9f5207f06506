/// What is to be done about a stored answer, and why.
public enum CacheDecision: Sendable, Hashable {
    /// It is the answer.
    case use(CacheReason)
    /// The server is asked whether it still holds.
    case revalidate(CacheReason)
    /// The network is asked as if there were none.
    case fetch(CacheReason)

    /// Why.
    public var reason: CacheReason {
        switch self {
        case .use(let reason), .revalidate(let reason), .fetch(let reason): reason
        }
    }

    /// Whether it is the answer.
    public var isUse: Bool {
        if case .use = self { true } else { false }
    }
}

extension CacheDecision: CustomStringConvertible {
    /// Such as "use (fresh)".
    public var description: String {
        switch self {
        case .use(let reason): "use (\(reason))"
        case .revalidate(let reason): "revalidate (\(reason))"
        case .fetch(let reason): "fetch (\(reason))"
        }
    }
}
