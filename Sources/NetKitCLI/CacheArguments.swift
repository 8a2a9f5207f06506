import NetKit

/// The options of the cache.
struct CacheArguments: Sendable {
    /// The maximum age of a response without an explicit lifetime.
    var maximumAge: Duration?
    var version: Int64?
    /// The directory or the server. If `nil`, the default directory is used.
    var location: CacheLocation?
    /// Whether --cache names a server, so that a cache is used without further options.
    var usesServer = false
    var mode: CacheMode?
    /// Whether the server's caching rules (RFC 9111) apply instead of those of the command line.
    var isHTTP = false
    var isOffline = false

    /// The default maximum age: practically unlimited.
    fileprivate static let unlimitedAge = Duration.seconds(1 << 40)

    var isWanted: Bool { maximumAge != nil || usesServer || mode != nil || isHTTP || isOffline }

    /// Whether the stored response is written first, and then the response from the network.
    var deliversTwice: Bool { isWanted && !isOffline && mode == .cacheThenNetwork }

    func check() throws(UsageError) {
        if !isWanted && (version != nil || location != nil) {
            throw UsageError("--cache-version and --cache-dir require --cache, --cache-mode or --offline")
        }
        if isHTTP && (maximumAge != nil || version != nil) {
            throw UsageError("--cache-mode http cannot be combined with --cache or --cache-version")
        }
    }

    /// The cache rules; ``CacheRules/off`` if no cache is used.
    var rules: CacheRules {
        guard isWanted else { return .off }
        let mode = isOffline ? .cacheOnly : mode ?? .cacheElseNetwork
        if isHTTP {
            var policy = HTTPCachePolicy(mode: mode)
            policy.writesAsynchronously = false
            return .http(policy)
        }
        var policy = CachePolicy(maximumAge: maximumAge ?? Self.unlimitedAge, version: version ?? 0, mode: mode)
        policy.writesAsynchronously = false
        return .application(policy)
    }

    /// Returns the store, or `nil` if no cache is used. If the server of the cache does not answer, warns and returns
    /// an empty store: each response is then a miss.
    func store(warn: (String) -> Void) async throws(Failure) -> (any CacheStore)? {
        guard isWanted else { return nil }
        switch location {
        case .directory(let directory)?: return DiskCacheStore(directory: directory)
        #if Redis
        case .server(let server)?:
            let connection = try server.open()
            do throws(Failure) {
                return try await connection.store()
            } catch {
                warn("\(error.message ?? ""); continuing with an empty cache")
                return MemoryCacheStore()
            }
        #endif
        case nil:
            do throws(NetError) {
                return DiskCacheStore(directory: try DiskCacheStore.defaultDirectory(app: "nk"))
            } catch {
                throw Failure(error)
            }
        }
    }
}

extension Option {
    /// The options of the cache.
    static let cache: [Option] = [
        value(nil, "cache") { (arguments, text) throws(UsageError) in
            if CacheLocation.isURL(text) {
                arguments.cache.location = try CacheLocation(text, of: "--cache")
                arguments.cache.usesServer = true
            } else {
                arguments.cache.maximumAge = try OptionValue.age(text, of: "--cache")
            }
        },
        value(nil, "cache-version") { (arguments, text) throws(UsageError) in
            guard let version = Int64(text) else {
                throw UsageError("invalid --cache-version '\(text)': expected a 64-bit integer")
            }
            arguments.cache.version = version
        },
        value(nil, "cache-dir") { (arguments, text) throws(UsageError) in
            arguments.cache.location = try CacheLocation(text, of: "--cache-dir")
        },
        value(nil, "cache-mode") { (arguments, text) throws(UsageError) in
            arguments.cache.isHTTP = text == "http"
            arguments.cache.mode = text == "http" ? nil : try OptionValue.cacheMode(text)
        },
        toggle(nil, "offline") { $0.cache.isOffline = $1 },
    ]
}

extension OptionValue {
    /// Parses a decimal number of seconds, at least 0.
    static func age(_ text: String, of option: String) throws(UsageError) -> Duration {
        let digits = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) || $0 == 46 }
        guard digits, let seconds = Double(text), seconds <= 1e12 else {
            throw UsageError("\(option) '\(text)' is not a number of seconds")
        }
        return .milliseconds(Int64((seconds * 1000).rounded()))
    }

    /// Parses the name of a cache mode. "=SECONDS" may follow stale-while-revalidate and stale-if-error.
    static func cacheMode(_ text: String) throws(UsageError) -> CacheMode {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let day = Duration.seconds(86_400)
        switch (parts[0], parts.count) {
        case ("cache-else-network", 1): return .cacheElseNetwork
        case ("network-else-cache", 1): return .networkElseCache
        case ("cache-then-network", 1): return .cacheThenNetwork
        case ("cache-only", 1): return .cacheOnly
        case ("native", 1): return .nativeLoad
        case ("stale-while-revalidate", let count):
            return .staleWhileRevalidate(count == 1 ? day : try age(parts[1], of: "--cache-mode \(parts[0])"))
        case ("stale-if-error", let count):
            return .staleIfError(count == 1 ? day : try age(parts[1], of: "--cache-mode \(parts[0])"))
        default: throw UsageError("unknown --cache-mode '\(text)'; docs/nk.md lists the modes")
        }
    }
}

extension Headers {
    /// Returns the fields with a Cache-Status field (RFC 9211) added, if a cache was used.
    func addingCacheStatus(_ report: CacheReport?) -> Headers {
        guard let report else { return self }
        var headers = self
        headers.append(name: "Cache-Status", value: report.cacheStatus)
        return headers
    }
}

extension CacheReport {
    /// Whether no request was sent for the response.
    var sendsNothing: Bool { [.hit, .staleHit].contains(outcome) }

    /// The value of the Cache-Status field, such as "nk; hit; ttl=57; age=3; detail=fresh".
    fileprivate var cacheStatus: String {
        var parts = ["nk"]
        switch outcome {
        case .hit, .staleHit: parts.append("hit")
        case .revalidated: parts += ["fwd=stale", "fwd-status=304"]
        case .network, .none: parts.append("fwd=\(forwarding)")
        }
        if isStorable {
            parts.append("stored")
        }
        if let age {
            if isHit, let lifetime, lifetime < CacheArguments.unlimitedAge {
                parts.append("ttl=\((lifetime - age).components.seconds)")
            }
            parts.append("age=\(age.components.seconds)")
        }
        return (parts + ["detail=\(reason)"]).joined(separator: "; ")
    }

    private var forwarding: String {
        switch reason {
        case .absent, .invalidMetadata, .invalidData: "uri-miss"
        case .varies: "vary-miss"
        case .expired, .stale, .noCache: "stale"
        case .requestDirective: "request"
        case .uncacheable, .ignored, .networkFirst, .invalidTime: "bypass"
        default: "miss"
        }
    }
}
