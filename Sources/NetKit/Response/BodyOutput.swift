/// A destination for a response's body: receives it in pieces, in order, instead of keeping it in memory.
///
///     let request = Request<Void>("film.mkv").writing(to: DescriptorOutput(descriptor))
///     agent.start(request) { result in … }
///
/// It is called by one task at a time, and the transfer waits for it. An error thrown here ends the request: a
/// ``NetError`` unchanged, any other error as ``NetError/underlying`` of ``NetError/Code/stoppedByCaller``.
public protocol BodyOutput: Sendable {
    /// Writes the next bytes, and returns when it can accept more.
    func write(_ bytes: Bytes) async throws
    /// Discards everything that was written: the body starts from the beginning. This happens when a paused request
    /// cannot continue where it stopped. Bytes of another response are never appended.
    func startOver() async throws
    /// Finishes after the last byte of a complete body.
    func finish() async throws
}

extension BodyOutput {
    /// Throws ``NetError/Code/notRewindable``: the written bytes cannot be discarded.
    public func startOver() async throws {
        throw NetError(.notRewindable, "the body begins anew, and its output cannot")
    }

    /// Does nothing.
    public func finish() async throws {}
}
