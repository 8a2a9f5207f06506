/// A stored response without its body, as the metadata of an entry contains it.
struct StoredResponse: Sendable {
    /// The part that is always decoded. Header fields are decoded when they are read.
    struct Head: Sendable, Equatable {
        var status = 200
        var httpVersion = HTTPVersion.unknown
        /// The URL of the response, without credentials.
        var url = ""
        /// The time at which the response was received, in milliseconds since 1970.
        var received: Int64 = 0
        /// The ``CachePolicy/version`` with which the response was stored.
        var version: Int64 = 0
        /// The ``CachePolicy/appVersion`` with which the response was stored.
        var appVersion = ""
        /// A keyed hash of the sensitive data; empty if there is none.
        var sensitive: [UInt8] = []
        /// A keyed hash of the owner; empty for a shared response.
        var owner: [UInt8] = []
        /// The canonical hosts of all hops, if there was more than one host. With a ``CachePolicy``, the cookies for
        /// these hosts determine the owner.
        var hosts: [String] = []
        /// The freshness by the server's directives.
        var freshness = HTTPFreshness()
        /// Whether the response has a validator, so that it can be revalidated.
        var hasValidator = false
    }

    let head: Head
    /// The stored fields.
    let headers: Headers

    init(_ head: Head, headers: Headers) {
        self.head = head
        self.headers = headers
    }

    /// Returns the same response with these additional hosts of hops.
    func visiting(_ hosts: [String]) -> StoredResponse {
        if hosts.isEmpty {
            return self
        }
        var head = head
        head.hosts = Set(head.hosts + hosts).sorted()
        return StoredResponse(head, headers: headers)
    }
}

/// The entry for a URL whose responses have Vary fields. It lists these Vary fields. The key of a response consists of
/// one of them, the request's values for it, and the generation.
struct VariantIndex: Sendable, Equatable {
    /// The Vary fields of the stored responses, most recently stored first.
    var choices: [Vary] = []
    /// A random number in the keys of the responses. If the index is removed, a new one has another number, so that the
    /// old responses cannot be found.
    var generation: UInt64

    /// The largest number of Vary fields to try.
    static let maximumChoices = 8

    /// Adds a Vary field, or moves it to the front. Returns false if nothing was changed.
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
    case storedResponse(StoredResponse)
    case index(VariantIndex)
}

/// The freshness of a stored response by the server's directives (RFC 9111, 4.2). ``HTTPCacheRules`` computes it once,
/// when the response is stored.
///
/// Durations are in milliseconds, and times in milliseconds since 1970.
struct HTTPFreshness: Sendable, Equatable {
    /// Further properties of the response.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt8
        /// The response must be revalidated before each use.
        static let noCache = Self(rawValue: 1)
        /// The response must not be used when it is stale.
        static let mustRevalidate = Self(rawValue: 2)
        /// The resource does not change while the response is fresh (RFC 8246).
        static let immutable = Self(rawValue: 4)
        /// The lifetime is heuristic.
        static let heuristic = Self(rawValue: 8)
    }

    /// The freshness lifetime; `nil` if unknown.
    var lifetime: Int64?
    /// The age of the response when it was received.
    var initialAge: Int64 = 0
    /// The time at which the response was received.
    var received: Int64 = 0
    /// How long the stale response may be used while it is revalidated; `nil` if the server does not allow it.
    var staleWhileRevalidate: Int64?
    /// How long the stale response may be used after a failure; `nil` if the server does not allow it.
    var staleIfError: Int64?
    var flags: Flags = []
}

extension Duration {
    /// Whole milliseconds, rounded down and limited to the range of Int64.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        if overflow {
            return seconds < 0 ? .min : .max
        }
        let fraction = attoseconds / 1_000_000_000_000_000
        let (sum, isTooLarge) = milliseconds.addingReportingOverflow(fraction)
        let rounded = attoseconds < 0 && attoseconds % 1_000_000_000_000_000 != 0 ? sum - 1 : sum
        return isTooLarge ? (seconds < 0 ? .min : .max) : rounded
    }
}

/// The names in the Vary fields of a response: the request fields on which the response depends (RFC 9111, 4.1).
struct Vary: Sendable, Equatable {
    /// The names in lower case, sorted.
    let names: [String]
}
