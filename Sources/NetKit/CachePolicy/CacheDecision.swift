/// The decision about a stored response, with its reason.
public enum CacheDecision: Sendable, Hashable {
    /// Use the stored response.
    case use(CacheReason)
    /// Ask the server whether it is still valid.
    case revalidate(CacheReason)
    /// Send the request without using the stored response.
    case fetch(CacheReason)

    /// The reason.
    public var reason: CacheReason {
        switch self {
        case .use(let reason), .revalidate(let reason), .fetch(let reason): reason
        }
    }

    /// Whether the stored response is used.
    public var isUse: Bool {
        if case .use = self { true } else { false }
    }
}

extension CacheDecision: CustomStringConvertible {
    /// A text such as "use (fresh)".
    public var description: String {
        switch self {
        case .use(let reason): "use (\(reason))"
        case .revalidate(let reason): "revalidate (\(reason))"
        case .fetch(let reason): "fetch (\(reason))"
        }
    }
}
