/// Where a received response lives; values are made from it when they are asked for.
protocol ResponseStorage: AnyObject, Sendable {
    var status: Int { get }
    var httpVersion: HTTPVersion { get }
    var url: String { get }
    var bodyCount: Int { get }
    func withBody<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result
    var headerCount: Int { get }
    func headerField(at index: Int) -> Headers.Field
    func headerValue(named name: String) -> String?
    var hopCount: Int { get }
    func hop(at index: Int) -> HopMetrics
}
