/// The requests of a queue, in order of arrival. A request that is still being written delays those after it.
struct QueueOrder: Sendable {
    private(set) var kept: [QueuedRequest]
    private var writing: Set<Int> = []
    private var last: Int

    init(kept: [QueuedRequest], last: Int) {
        self.kept = kept
        self.last = last
    }

    /// Whether a new request with a method that is not safe would overtake nothing.
    var isEmpty: Bool { kept.isEmpty && writing.isEmpty }

    /// The next request to send. `nil` if there is none, or if an earlier one is still being written.
    var next: QueuedRequest? {
        guard let first = kept.first, writing.allSatisfy({ $0 > first.id }) else { return nil }
        return first
    }

    /// Returns the number for a new request that is about to be written, or `nil` if the queue is full.
    mutating func begin(upTo maxCount: Int) -> Int? {
        guard kept.count + writing.count < maxCount else { return nil }
        last += 1
        writing.insert(last)
        return last
    }

    /// Records that the request was written, so that it may be sent; `nil` if writing failed.
    mutating func end(_ number: Int, _ record: QueuedRequest?) {
        writing.remove(number)
        if let record {
            kept.insert(record, at: kept.firstIndex { $0.id > number } ?? kept.count)
        }
    }

    /// Returns whether it was in the queue.
    mutating func remove(_ id: QueuedRequest.ID) -> Bool {
        let count = kept.count
        kept.removeAll { $0.id == id }
        return kept.count < count
    }
}
