/// The hops of a response, in order: one, and one more for each followed redirect.
public struct Metrics: Sendable, RandomAccessCollection {
    private let storage: (any ResponseStorage)?
    private let hops: [HopMetrics]

    init(received: any ResponseStorage) {
        storage = received
        hops = []
    }

    /// Creates metrics from hops, for a stub.
    public init(_ hops: [HopMetrics] = []) {
        storage = nil
        self.hops = hops
    }

    /// 0.
    public var startIndex: Int { 0 }

    /// The number of hops.
    public var endIndex: Int { storage?.hopCount ?? hops.count }

    /// The hop at `position`.
    public subscript(position: Int) -> HopMetrics { storage?.hop(at: position) ?? hops[position] }
}
