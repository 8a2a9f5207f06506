/// Which way an agent's cookies go with a request; without a jar all are alike.
///
/// A Cookie field of the request's own is sent whatever it says.
public enum CookieUse: Sendable, Hashable {
    /// Those that match are sent, and those of the answer are kept.
    case sendAndStore
    /// Those that match are sent; those of the answer are not kept, not for the redirect that brings them either.
    case sendOnly
    /// None is sent; those of the answer are kept, and may take back what the jar has.
    case storeOnly
    /// None is sent, none is kept.
    case ignore

    /// Whether any is sent.
    public var sends: Bool { self == .sendAndStore || self == .sendOnly }
    /// Whether any is kept.
    public var stores: Bool { self == .sendAndStore || self == .storeOnly }
}
