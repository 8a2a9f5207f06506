/// Where received bytes live, in one piece that neither changes nor moves.
protocol ByteStorage: AnyObject, Sendable {
    var bodyCount: Int { get }
    /// Whether the bytes were found to be JSON as they came.
    var isProvenJSON: Bool { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
}
