/// Storage of received bytes: one contiguous piece that neither changes nor moves.
protocol ByteStorage: AnyObject, Sendable {
    var bodyCount: Int { get }
    /// The result of the body check while the bytes arrived; `nil` without a check, or if it failed.
    var proof: JSONExpectation? { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension ByteStorage {
    var proof: JSONExpectation? { nil }
}
