/// What a queue keeps, in the order in which it came: what is still being written down holds up what came behind it.
struct QueueOrder: Sendable {
    private(set) var kept: [QueuedRequest]
    private var writing: Set<Int> = []
    private var last: Int

    init(kept: [QueuedRequest], last: Int) {
        self.kept = kept
        self.last = last
    }

    /// Whether a change that comes now would overtake nothing.
    var isEmpty: Bool { kept.isEmpty && writing.isEmpty }

    /// The one to be sent next; nil while there is none, or one before it is still being written.
    var next: QueuedRequest? {
        guard let first = kept.first, writing.allSatisfy({ $0 > first.id }) else { return nil }
        return first
    }

    /// The number of a request that is about to be written down; nil when there are so many already.
    mutating func begin(upTo maxCount: Int) -> Int? {
        guard kept.count + writing.count < maxCount else { return nil }
        last += 1
        writing.insert(last)
        return last
    }

    /// It is in its file now, and only from now on may it be sent; nil when it could not be written.
    mutating func end(_ number: Int, _ record: QueuedRequest?) {
        writing.remove(number)
        if let record {
            kept.insert(record, at: kept.firstIndex { $0.id > number } ?? kept.count)
        }
    }

    /// Returns whether it was kept.
    mutating func remove(_ id: QueuedRequest.ID) -> Bool {
        let count = kept.count
        kept.removeAll { $0.id == id }
        return kept.count < count
    }
}
