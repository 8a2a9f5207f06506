/// A name and a password, or a token, with the authentication schemes that may use them.
/// Credentials belong to the origin of the request's URL. They are never sent to another origin, even after a redirect.
/// ``description`` and `dump` show only the schemes, never a name, password or token.
public struct Credentials: Sendable, Hashable {
    /// Authentication schemes.
    struct Schemes: OptionSet, Sendable, Hashable {
        let rawValue: UInt32
        static let basic = Self(rawValue: 1)
        static let digest = Self(rawValue: 2)
        static let bearer = Self(rawValue: 4)
        static let ntlm = Self(rawValue: 8)
        static let negotiate = Self(rawValue: 16)
        static let inherited = Self(rawValue: 1 << 31)
    }

    /// The credentials of the service, or else those of the agent or of its netrc file.
    public static let inherited = Credentials(.inherited)

    /// No credentials. The request is sent without those of the service, the agent, its netrc file and a
    /// ``CredentialRefresh``, and does not respond to a challenge of the server.
    public static let none = Credentials([])

    let schemes: Schemes
    let user: String
    let password: String
    let token: String

    init(_ schemes: Schemes, user: String = "", password: String = "", token: String = "") {
        self.schemes = schemes
        self.user = user
        self.password = password
        self.token = token
    }

    /// Returns credentials for Basic (RFC 7617), which are sent immediately and are readable in the request.
    public static func basic(user: String, password: String) -> Credentials {
        Credentials(.basic, user: user, password: password)
    }

    /// Returns credentials for Digest (RFC 7616), which are sent after a challenge.
    public static func digest(user: String, password: String) -> Credentials {
        Credentials(.digest, user: user, password: password)
    }

    /// Returns a bearer token (RFC 6750), which is sent immediately.
    public static func bearer(_ token: String) -> Credentials {
        Credentials(.bearer, token: token)
    }

    /// Returns credentials for NTLM, if libcurl supports it.
    public static func ntlm(user: String, password: String) -> Credentials {
        Credentials(.ntlm, user: user, password: password)
    }

    /// Returns credentials for Negotiate (SPNEGO, RFC 4559), if libcurl supports it. With an empty name, the current
    /// Kerberos ticket is used.
    public static func negotiate(user: String = "", password: String = "") -> Credentials {
        Credentials(.negotiate, user: user, password: password)
    }

    /// Returns credentials for the stronger of Digest and Basic that the server offers.
    public static func any(user: String, password: String) -> Credentials {
        Credentials([.basic, .digest], user: user, password: password)
    }
}

extension Credentials: SecretHolding {
    /// The schemes without the secrets.
    public var description: String {
        if schemes.isEmpty || schemes == .inherited {
            return schemes.isEmpty ? "Credentials.none" : "Credentials.inherited"
        }
        let names: [(Schemes, String)] = [
            (.basic, "basic"), (.digest, "digest"), (.bearer, "bearer"), (.ntlm, "ntlm"), (.negotiate, "negotiate"),
        ]
        return "Credentials(\(names.filter { schemes.contains($0.0) }.map(\.1).joined(separator: ", ")))"
    }
}
