/// What becomes of a redirect (RFC 9110, 15.4).
public enum RedirectPolicy: Sendable, Hashable {
    /// Followed, except from https to http.
    case follow
    /// Followed, from https to http as well.
    case followDowngrades
    /// Returned as the response.
    case `return`
}
