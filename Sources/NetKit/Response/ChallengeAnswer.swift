/// What becomes of a challenge.
public enum ChallengeAnswer: Sendable {
    /// The request is sent again with these.
    case use(Credentials)
    /// As ``use(_:)``, and when they were accepted the agent's ``CredentialStore`` keeps them.
    case keep(Credentials)
    /// The first time, what the agent's ``CredentialStore`` has is shown; otherwise the 401 or 407 is the response.
    case useDefault
    /// The request ends with ``NetError/Code/cancelled``.
    case cancel
    /// The response's next challenge is asked about; after the last one, the 401 or 407 is the response.
    case reject
    /// The request ends with ``NetError/Code/authentication``, and this underneath.
    case fail(any Error)
}
