import NetKit

/// Selects the next reply for a request.
struct StubScript: Sendable {
    struct Key: Hashable, Sendable {
        let method: Method?
        let place: String
    }

    private struct Row: Sendable {
        let replies: [StubReply]
        var next = 0
    }

    private var rows: [Key: Row] = [:]

    mutating func set(_ replies: [StubReply], for key: Key) {
        rows[key] = replies.isEmpty ? nil : Row(replies: replies)
    }

    /// Returns the next reply of the most specific entry. A URL is more specific than a path, and a path than "*". An
    /// entry with a method precedes one without.
    mutating func next(for request: StubRequest) -> StubReply? {
        for place in [request.place, request.path, "*"] {
            for method in [request.method, nil] {
                let key = Key(method: method, place: place)
                guard let row = rows[key] else { continue }
                rows[key]?.next = min(row.next + 1, row.replies.count - 1)
                return row.replies[row.next]
            }
        }
        return nil
    }
}
