/// Where received bytes live, in one piece that neither changes nor moves.
protocol ByteStorage: AnyObject, Sendable {
    var bodyCount: Int { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}
