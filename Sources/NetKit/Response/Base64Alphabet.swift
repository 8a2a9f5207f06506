/// The alphabets of Base64 (RFC 4648).
public enum Base64Alphabet: Sendable, Hashable {
    /// "+" and "/", padded with "=" (section 4).
    case standard
    /// "-" and "_", without padding, as in JSON Web Tokens (section 5).
    case url
    /// "-" and "_", padded with "=".
    case paddedURL
}
