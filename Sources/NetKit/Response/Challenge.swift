/// A server or a proxy asks who asks (RFC 9110, 11).
public struct Challenge: Sendable {
    /// The URL that was refused, without credentials.
    public let url: String
    /// The scheme as it was spelled, such as "Digest".
    public let scheme: String
    /// The realm; nil when none is named.
    public let realm: String?
    /// Whether the proxy asks.
    public let isProxy: Bool
    /// How often credentials were shown and refused.
    public let previousFailureCount: Int
    /// The 401 or 407; of a streamed one the head alone.
    public let response: Response<Bytes>
    /// What the agent's ``CredentialStore`` has for it, which ``ChallengeAnswer/useDefault`` shows the first time.
    public internal(set) var proposed: Credentials?
}
