/// How a request uses the agent's cookie jar. Without a jar, all cases are the same.
///
/// A Cookie field of the request itself is always sent.
public enum CookieUse: Sendable, Hashable {
    /// Sends matching cookies and stores those of the response.
    case sendAndStore
    /// Sends matching cookies and stores none, not even for the redirect whose response sets them.
    case sendOnly
    /// Sends no cookie. Stores those of the response, which may remove stored cookies.
    case storeOnly
    /// Sends and stores no cookie.
    case ignore

    /// Whether cookies are sent.
    public var sends: Bool { self == .sendAndStore || self == .sendOnly }
    /// Whether cookies are stored.
    public var stores: Bool { self == .sendAndStore || self == .storeOnly }
}
