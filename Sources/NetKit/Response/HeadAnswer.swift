/// The action for a response when its head has arrived; see ``TransferHooks/head``.
public enum HeadAnswer: Sendable, Hashable {
    /// Continues as requested.
    case allow
    /// Ends the transfer with ``NetError/Code/cancelled``, before its body.
    case cancel
    /// Writes the body to this file. It appears when it is complete and replaces an existing one.
    case download(to: String)
    /// Delivers the body as a stream, if the caller accepts one.
    case stream
}
