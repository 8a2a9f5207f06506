/// A server's or a proxy's demand for credentials (RFC 9110, 11).
public struct Challenge: Sendable {
    /// The refused URL, without credentials.
    public let url: String
    /// The scheme in its original spelling, such as "Digest".
    public let scheme: String
    /// The realm; `nil` if the challenge has none.
    public let realm: String?
    /// Whether it comes from the proxy.
    public let isProxy: Bool
    /// The number of credentials that were sent and refused.
    public let previousFailureCount: Int
    /// The response with status 401 or 407; only its head if it was streamed.
    public let response: Response<Bytes>
    /// The matching credentials of the agent's ``CredentialStore``, which ``ChallengeAnswer/useDefault`` sends once.
    public internal(set) var proposed: Credentials?
}
