/// Who asks: a name and a password, or a token, and the ways in which they may be shown.
///
/// They belong to the origin of the request's URL and never go to another one, whatever a redirect says. No
/// description shows them.
public struct Credentials: Sendable, Hashable {
    /// Ways to prove who asks.
    struct Schemes: OptionSet, Sendable, Hashable {
        let rawValue: UInt32
        static let basic = Self(rawValue: 1)
        static let digest = Self(rawValue: 2)
        static let bearer = Self(rawValue: 4)
        static let ntlm = Self(rawValue: 8)
        static let negotiate = Self(rawValue: 16)
    }

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

    /// Name and password, readable for whoever reads the request (RFC 7617); sent at once.
    public static func basic(user: String, password: String) -> Credentials {
        Credentials(.basic, user: user, password: password)
    }

    /// A challenge answered with a digest (RFC 7616).
    public static func digest(user: String, password: String) -> Credentials {
        Credentials(.digest, user: user, password: password)
    }

    /// A token (RFC 6750), sent at once.
    public static func bearer(_ token: String) -> Credentials {
        Credentials(.bearer, token: token)
    }

    /// NTLM, where libcurl has it.
    public static func ntlm(user: String, password: String) -> Credentials {
        Credentials(.ntlm, user: user, password: password)
    }

    /// Negotiate (SPNEGO, RFC 4559), where libcurl has it; an empty name is that of the ticket at hand.
    public static func negotiate(user: String = "", password: String = "") -> Credentials {
        Credentials(.negotiate, user: user, password: password)
    }

    /// The strongest of digest and basic that the server offers.
    public static func any(user: String, password: String) -> Credentials {
        Credentials([.basic, .digest], user: user, password: password)
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The schemes alone.
    public var description: String {
        let names: [(Schemes, String)] = [
            (.basic, "basic"), (.digest, "digest"), (.bearer, "bearer"), (.ntlm, "ntlm"), (.negotiate, "negotiate"),
        ]
        return "Credentials(\(names.filter { schemes.contains($0.0) }.map(\.1).joined(separator: ", ")))"
    }

    /// The schemes alone.
    public var debugDescription: String { description }

    /// Nothing, so that `dump` tells nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
