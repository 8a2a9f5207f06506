/// Where received bytes live, in one piece that neither changes nor moves.
protocol ByteStorage: AnyObject, Sendable {
    var bodyCount: Int { get }
    /// What the bytes were found to be as they came; nil where nobody looked, or they are not.
    var proof: JSONExpectation? { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}

extension ByteStorage {
    var proof: JSONExpectation? { nil }
}
