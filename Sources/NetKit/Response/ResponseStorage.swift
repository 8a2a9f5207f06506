/// Where a received response lives; values are made from it when they are asked for.
protocol ResponseStorage: ByteStorage {
    var status: Int { get }
    var httpVersion: HTTPVersion { get }
    var url: String { get }
    var headerCount: Int { get }
    func headerField(at index: Int) -> Headers.Field
    func headerContent(named name: String) -> ByteText?
    var trailers: Headers { get }
    var isCloseDelimited: Bool { get }
    var hopCount: Int { get }
    func hop(at index: Int) -> HopMetrics
}
