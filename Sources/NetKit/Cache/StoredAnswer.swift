/// A response as stored in an entry's metadata, next to the body.
struct StoredAnswer: Sendable {
    /// The part that is decoded immediately; fields are decoded when they are read.
    struct Head: Sendable, Equatable {
        var status = 200
        var httpVersion = HTTPVersion.unknown
        /// The URL of the response, without credentials.
        var url = ""
        /// When it was received, in milliseconds since 1970.
        var received: Int64 = 0
        /// The version in ``CachePolicy``.
        var version: Int64 = 0
        /// The app version in ``CachePolicy``.
        var appVersion = ""
        /// A keyed hash of the sensitive data; empty without any.
        var sensitive: [UInt8] = []
        /// A keyed hash of the owner; empty for a shared response.
        var owner: [UInt8] = []
        /// The canonical hosts of the redirects, if there was more than one. By an app's policy, the owner is
        /// determined by the cookies for those hosts.
        var hosts: [String] = []
        /// The freshness by the server's directives.
        var freshness = HTTPFreshness()
        /// Whether it can be revalidated.
        var hasValidator = false
    }

    let head: Head
    /// The stored fields.
    let headers: Headers

    init(_ head: Head, headers: Headers) {
        self.head = head
        self.headers = headers
    }

    /// Returns the same response with these hosts of redirects.
    func visiting(_ hosts: [String]) -> StoredAnswer {
        if hosts.isEmpty {
            return self
        }
        var head = head
        head.hosts = Set(head.hosts + hosts).sorted()
        return StoredAnswer(head, headers: headers)
    }
}

/// The entry for a URL whose responses have variants: the selecting fields, and the keys of the responses.
struct VariantIndex: Sendable, Equatable {
    /// Sets of fields, most recently stored first.
    var choices: [Vary] = []
    /// Part of the variants' keys: when the index is removed, they cannot be found.
    var generation: UInt64

    /// The largest number of sets to try.
    static let maximumChoices = 8

    /// Adds a set. Returns false if nothing changed.
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

/// The decoded metadata of an entry.
enum StoredMetadata: Sendable {
    case answer(StoredAnswer)
    case index(VariantIndex)
}
