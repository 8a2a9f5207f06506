/// Where a response's body goes, piece by piece and in order: an output of the caller's instead of memory.
///
///     let request = Request<Void>("film.mkv").writing(to: DescriptorOutput(descriptor))
///     agent.start(request) { result in … }
///
/// It is asked from one task at a time, and the transfer waits for it. What it throws ends the request: a ``NetError`` as
/// it is, anything else under ``NetError/Code/stoppedByCaller`` with the error underneath.
public protocol BodyOutput: Sendable {
    /// Takes the next bytes, and returns when there is room for more.
    func write(_ bytes: Bytes) async throws
    /// What was written so far counts no more: the body begins anew, because a request that was held up could not go on
    /// where it was. Nothing is ever appended to the bytes of another answer.
    func startOver() async throws
    /// The body is whole.
    func finish() async throws
}

extension BodyOutput {
    /// Throws ``NetError/Code/notRewindable``: what was written cannot be taken back.
    public func startOver() async throws {
        throw NetError(.notRewindable, "the body begins anew, and its output cannot")
    }

    /// Does nothing.
    public func finish() async throws {}
}
