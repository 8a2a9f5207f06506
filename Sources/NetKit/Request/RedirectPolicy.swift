/// The handling of redirects (RFC 9110, 15.4).
public enum RedirectPolicy: Sendable, Hashable {
    /// Follows redirects, except from https to http.
    case follow
    /// Follows redirects, including those from https to http.
    case followDowngrades
    /// Returns the redirect as the response.
    case `return`
}
