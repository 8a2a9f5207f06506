/// The response to a challenge.
public enum ChallengeAnswer: Sendable {
    /// Sends the request again with these credentials.
    case use(Credentials)
    /// Does the same as ``use(_:)``, and stores the credentials in the agent's ``CredentialStore`` if they are
    /// accepted.
    case keep(Credentials)
    /// Sends the credentials of the agent's ``CredentialStore`` the first time. Otherwise returns the 401 or 407 as the
    /// response.
    case useDefault
    /// Ends the request with ``NetError/Code/cancelled``.
    case cancel
    /// Continues with the response's next challenge. After the last one, returns the 401 or 407 as the response.
    case reject
    /// Ends the request with ``NetError/Code/authentication``, with this error as ``NetError/underlying``.
    case fail(any Error)
}
