/// The position of a name that may denote a secret. Some names are secret in one position only, such as `code` in a
/// URL.
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
