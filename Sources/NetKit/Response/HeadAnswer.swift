/// What becomes of a response when its head is there, see ``TransferHooks/head``.
public enum HeadAnswer: Sendable, Hashable {
    /// It goes on as it was asked for.
    case allow
    /// The transfer ends with ``NetError/Code/cancelled``, before its body.
    case cancel
    /// The body goes to this file, which appears whole or not at all and replaces one that was there.
    case download(to: String)
    /// The body comes as a stream of bytes, where the caller takes one.
    case stream
}
