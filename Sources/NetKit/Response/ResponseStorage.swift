/// Storage of a received response; values are created when they are read.
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
