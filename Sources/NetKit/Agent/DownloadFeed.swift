/// The events of a download, for one reader that may be slow or missing. Unread progress is replaced by newer progress,
/// which bounds the memory.
final class DownloadFeed: Sendable {
    /// Ends after ``finish()``, when all events have been read.
    let events: AsyncStream<DownloadEvent>
    private let unread: Lock<[DownloadEvent]>
    private let bell: AsyncStream<Void>.Continuation

    init() {
        let unread = Lock<[DownloadEvent]>([])
        let (bells, bell) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.unread = unread
        self.bell = bell
        let take = { @Sendable in unread.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
        events = AsyncStream(unfolding: {
            while true {
                if let event = take() { return event }
                var waiting = bells.makeAsyncIterator()
                if await waiting.next() == nil {
                    return take()  // events after the last check
                }
            }
        })
    }

    func tell(_ event: DownloadEvent) {
        unread.withLock { unread in
            if case .progress = event, case .progress? = unread.last {
                unread.removeLast()
            }
            unread.append(event)
        }
        bell.yield()
    }

    func finish() {
        bell.finish()
    }
}
