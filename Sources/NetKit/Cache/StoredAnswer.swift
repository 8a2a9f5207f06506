/// An answer as it is stored: what stands in an entry's metadata, beside the body.
struct StoredAnswer: Sendable {
    /// What is read of it at once; the fields are read when they are asked for.
    struct Head: Sendable, Equatable {
        var status = 200
        var httpVersion = HTTPVersion.unknown
        /// The URL that answered, without credentials.
        var url = ""
        /// When it was received, in milliseconds since 1970.
        var received: Int64 = 0
        /// Of ``CachePolicy``.
        var version: Int64 = 0
        /// Of ``CachePolicy``.
        var appVersion = ""
        /// A keyed hash of the sensitive data; empty where there was none.
        var sensitive: [UInt8] = []
        /// A keyed hash of who was told; empty for anybody.
        var owner: [UInt8] = []
        /// The canonical hosts that redirects led to on the way, where it was more than one: by an app's policy the
        /// owner is whose cookies those hosts get.
        var hosts: [String] = []
        /// What the server said of its time.
        var freshness = HTTPFreshness()
        /// Whether the server can be asked if it still holds.
        var hasValidator = false
    }

    let head: Head
    /// The fields that are stored.
    let headers: Headers

    init(_ head: Head, headers: Headers) {
        self.head = head
        self.headers = headers
    }

    /// The same, by way of these hosts as well.
    func visiting(_ hosts: [String]) -> StoredAnswer {
        if hosts.isEmpty {
            return self
        }
        var head = head
        head.hosts = Set(head.hosts + hosts).sorted()
        return StoredAnswer(head, headers: headers)
    }
}

/// What takes the place of an answer that others were chosen beside: which fields choose, and where the answers are.
struct VariantIndex: Sendable, Equatable {
    /// Sets of fields, the last one stored first.
    var choices: [Vary] = []
    /// Part of the variants' keys: when the index goes, they are out of reach.
    var generation: UInt64

    /// As many sets as are tried one after the other.
    static let maximumChoices = 8

    /// Whether there was anything to add.
    mutating func add(_ vary: Vary) -> Bool {
        if choices.first == vary {
            return false
        }
        choices.removeAll { $0 == vary }
        choices.insert(vary, at: 0)
        choices.removeLast(max(0, choices.count - Self.maximumChoices))
        return true
    }
}

/// What an entry's metadata say.
enum StoredMetadata: Sendable {
    case answer(StoredAnswer)
    case index(VariantIndex)
}
