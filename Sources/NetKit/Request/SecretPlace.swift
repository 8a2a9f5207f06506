/// Where a name stands that may be a secret's: some are secrets in one place only, such as `code` in a URL.
public enum SecretPlace: Sendable, Hashable {
    /// The name of a header field.
    case field
    /// The name of a parameter of a URL, or of a field of a form.
    case parameter
    /// The name of a member of a JSON object.
    case member
    /// The name of a cookie.
    case cookie
}
