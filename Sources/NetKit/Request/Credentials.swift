/// A name and a password, or a token, with the authentication schemes that may use them.
/// Credentials belong to the origin of the request's URL. They are never sent to another origin, even after a redirect.
/// ``description`` and `dump` show only the schemes, never a name, password or token.
public enum Credentials: Sendable, Hashable {
    /// The credentials of the service, or else those of the agent or of its netrc file.
    case inherited
    /// No credentials. The request is sent without those of the service, the agent, its netrc file and a
    /// ``CredentialRefresh``, and does not respond to a challenge of the server.
    case none
    /// A name and a password for Basic (RFC 7617), which are sent immediately and are readable in the request.
    case basic(user: String, password: String)
    /// A name and a password for Digest (RFC 7616), which are sent after a challenge.
    case digest(user: String, password: String)
    /// A bearer token (RFC 6750), which is sent immediately.
    case bearer(String)
    /// A name and a password for NTLM, if libcurl supports it.
    case ntlm(user: String, password: String)
    /// A name and a password for Negotiate (SPNEGO, RFC 4559), if libcurl supports it. With an empty name, the current
    /// Kerberos ticket is used.
    case negotiate(user: String = "", password: String = "")
    /// A name and a password. Uses Digest if the server offers it, otherwise Basic.
    case any(user: String, password: String)
}

extension Credentials {
    /// Authentication schemes. The numbers are libnetcore's, except for `inherited`. Files of credentials store them,
    /// so they cannot change.
    struct Schemes: OptionSet, Sendable {
        let rawValue: UInt32
        static let basic = Self(rawValue: 1)
        static let digest = Self(rawValue: 2)
        static let bearer = Self(rawValue: 4)
        static let ntlm = Self(rawValue: 8)
        static let negotiate = Self(rawValue: 16)
        static let inherited = Self(rawValue: 1 << 31)
    }

    /// Creates credentials from their parts. Returns `nil` if no case has these schemes.
    init?(_ schemes: Schemes, user: String, password: String, token: String) {
        switch schemes {
        case .basic: self = .basic(user: user, password: password)
        case .digest: self = .digest(user: user, password: password)
        case .bearer: self = .bearer(token)
        case .ntlm: self = .ntlm(user: user, password: password)
        case .negotiate: self = .negotiate(user: user, password: password)
        case [.basic, .digest]: self = .any(user: user, password: password)
        case []: self = .none
        case .inherited: self = .inherited
        default: return nil
        }
    }

    /// The schemes; empty for ``none``.
    var schemes: Schemes {
        switch self {
        case .inherited: .inherited
        case .none: []
        case .basic: .basic
        case .digest: .digest
        case .bearer: .bearer
        case .ntlm: .ntlm
        case .negotiate: .negotiate
        case .any: [.basic, .digest]
        }
    }

    /// The name and the password; both are empty if there are none.
    private var login: (user: String, password: String) {
        switch self {
        case .inherited, .none, .bearer: ("", "")
        case .basic(let user, let password), .digest(let user, let password), .ntlm(let user, let password),
            .negotiate(let user, let password), .any(let user, let password):
            (user, password)
        }
    }

    /// The name, or an empty text.
    var user: String { login.user }

    /// The password, or an empty text.
    var password: String { login.password }

    /// The token, or an empty text.
    var token: String {
        if case .bearer(let token) = self { token } else { "" }
    }
}

extension Credentials: SecretHolding {
    /// The schemes without the secrets.
    public var description: String {
        switch self {
        case .inherited: "Credentials.inherited"
        case .none: "Credentials.none"
        case .basic: "Credentials(basic)"
        case .digest: "Credentials(digest)"
        case .bearer: "Credentials(bearer)"
        case .ntlm: "Credentials(ntlm)"
        case .negotiate: "Credentials(negotiate)"
        case .any: "Credentials(basic, digest)"
        }
    }
}
