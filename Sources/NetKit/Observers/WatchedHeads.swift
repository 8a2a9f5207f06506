/// Reports the response heads of one transfer to the observers of the call: immediately if the transport reports them,
/// otherwise when the transfer ends.
final class WatchedHeads: Sendable {
    private struct State: Sendable {
        var heads = 0
        var hasFinal = false
        var transfers: [UInt64] = []
    }

    private weak let watch: Watch?
    private weak let hub: EventHub?
    private let keepsDotSegments: Bool
    private let state = Lock(State())

    init(_ watch: Watch, hub: EventHub?, keepsDotSegments: Bool) {
        self.watch = watch
        self.hub = hub
        self.keepsDotSegments = keepsDotSegments
    }

    deinit {
        end()
    }

    /// Receives the transport's reports. The tap keeps this object while its transfer is in flight.
    var tap: TransferTap {
        TransferTap(
            began: { [self] in began($0) }, headArrived: { [self] in arrived($0, isLast: $1) })
    }

    private func began(_ transfer: UInt64) {
        state.withLock { $0.transfers.append(transfer) }
        if let watch {
            hub?.began(transfer, of: watch)
        }
    }

    private func arrived(_ head: ResponseHead, isLast: Bool) {
        state.withLock { state in
            state.heads += 1
            state.hasFinal = isLast
        }
        watch?.tell(.headReceived(head))
        if !isLast {
            let place = head.headers.reference("Location").flatMap {
                try? resolveReference($0, at: head.url, keepsDotSegments: keepsDotSegments)
            }
            watch?.tell(.redirected(head, to: place ?? ""))
        }
    }

    /// Reports the heads that the transport did not report itself.
    func complete(_ answer: Answer) {
        guard !state.withLock({ $0.hasFinal || $0.heads > 0 }) else { return }
        let hops = answer.metrics
        for (index, hop) in hops.enumerated().dropLast() {
            let head = ResponseHead(status: hop.status, httpVersion: hop.httpVersion, url: hop.url)
            watch?.tell(.headReceived(head))
            watch?.tell(.redirected(head, to: hops[index + 1].url))
        }
        watch?.tell(.headReceived(ResponseHead(of: answer)))
    }

    /// Called when the last transfer has ended; for a streamed body, when the stream ends.
    private func end() {
        let transfers = state.withLock { $0.transfers }
        if !transfers.isEmpty {
            hub?.ended(transfers)
        }
    }
}

extension ResponseHead {
    /// Creates the head of a response.
    init(of answer: Answer) {
        let response = answer.response
        self.init(
            status: answer.status, headers: answer.headers, httpVersion: response.httpVersion, url: answer.url)
    }
}
