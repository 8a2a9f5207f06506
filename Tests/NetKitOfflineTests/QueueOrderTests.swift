import NetKit
import NetKitTesting
import Testing

@testable import NetKitOffline

/// The order of requests while some are still being written to disk.
struct QueueOrderTests {
    private func record(_ number: Int) -> QueuedRequest {
        QueueRules(maxBodyBytes: 0, redaction: Redaction(), isWanted: { _ in true })
            .record(Request<Bytes>("http://a/\(number)", method: .put), id: number, keptAt: 0, lifetime: .seconds(1))
    }

    @Test func pendingWriteDelaysLaterRequests() {
        var order = QueueOrder(kept: [], last: 6)
        #expect(order.begin(upTo: 9) == 7 && order.begin(upTo: 9) == 8 && order.begin(upTo: 9) == 9)
        #expect(order.next == nil && !order.isEmpty)
        order.end(8, record(8))
        #expect(order.next == nil && order.kept.map(\.id) == [8])
        order.end(7, record(7))
        #expect(order.next?.id == 7)
        #expect(order.remove(7) && !order.remove(7))
        #expect(order.next?.id == 8)
    }

    @Test func failedWriteDelaysNothing() {
        var order = QueueOrder(kept: [record(1)], last: 1)
        #expect(order.begin(upTo: 9) == 2 && order.begin(upTo: 9) == 3)
        order.end(3, record(3))
        #expect(order.next?.id == 1 && order.remove(1))
        #expect(order.next == nil)
        order.end(2, nil)
        #expect(order.next?.id == 3 && order.remove(3))
        #expect(order.isEmpty && order.next == nil)
    }

    @Test func pendingWriteCountsAsQueued() {
        var order = QueueOrder(kept: [record(1)], last: 1)
        #expect(order.begin(upTo: 2) == 2 && order.begin(upTo: 2) == nil)
        order.end(2, nil)
        #expect(order.begin(upTo: 2) == 3)
    }
}
