import NetKit

/// The registered replies of a stub, and the selection of the next reply for a request.
struct StubScript: Sendable {
    struct Key: Hashable, Sendable {
        let method: Method?
        let pattern: String
    }

    private struct Entry: Sendable {
        let replies: [StubReply]
        var next = 0
    }

    private var entries: [Key: Entry] = [:]

    mutating func set(_ replies: [StubReply], for key: Key) {
        entries[key] = replies.isEmpty ? nil : Entry(replies: replies)
    }

    /// Returns the next reply of the most specific entry that matches, or `nil` if none does. A URL is more specific
    /// than a path, and a path is more specific than "*". For the same pattern, an entry with a method precedes one
    /// without.
    mutating func next(for request: StubRequest) -> StubReply? {
        for pattern in [request.urlWithoutQuery, request.path, "*"] {
            for method in [request.method, nil] {
                let key = Key(method: method, pattern: pattern)
                guard let entry = entries[key] else { continue }
                entries[key]?.next = min(entry.next + 1, entry.replies.count - 1)
                return entry.replies[entry.next]
            }
        }
        return nil
    }
}
