import NetKit

/// The interceptors and observers that the options of a command line require.
struct CommandInterceptors {
    let interceptors: [any Interceptor]
    let observers: [any Observer]
    let recorder: HARRecorder?
    /// The interceptor of the cache, or `nil` if no cache is used.
    let caching: Caching?
    private let store: (any CacheStore)?

    /// - Parameter warn: writes a warning.
    init(_ arguments: Arguments, warn: @escaping @Sendable (String) -> Void) async throws(Failure) {
        var interceptors: [any Interceptor] = []
        let store = arguments.printsCurl ? nil : try await arguments.cache.store(warn: warn)
        self.store = store
        caching = store.map { Caching($0, rules: arguments.cache.rules) }
        if let caching {
            interceptors.append(caching)
        }
        if let interval = arguments.startInterval {
            interceptors.append(RateLimit(1, per: interval, scope: .all))
        }
        if arguments.retries > 0 {
            interceptors.append(Self.retry(arguments))
        }
        self.interceptors = interceptors
        recorder = arguments.archivePath == nil ? nil : HARRecorder()
        var observers: [any Observer] =
            arguments.retries > 0 ? [RetryReporter(count: arguments.retries, warn: warn)] : []
        if let recorder {
            observers.append(recorder)
        }
        if caching != nil {
            observers.append(CacheStoreReporter(warn: warn))
        }
        self.observers = observers
    }

    /// Throws an error if another user could have written the cache. A cache that is missing or cannot be written is
    /// treated as empty.
    func checkStore() async throws(Failure) {
        do throws(NetError) {
            _ = try await (store as? DiskCacheStore)?.usage()
        } catch {
            if error.isDistrust {
                throw Failure(ExitCode.read, "cannot use the cache: \(error.message)")
            }
        }
    }

    /// Returns the retries of --retry. As in curl, the delay starts at one second and doubles, up to ten minutes. All
    /// methods are retried, because the user has requested it.
    private static func retry(_ arguments: Arguments) -> Retry {
        var retry = Retry(
            maxRetries: arguments.retries, baseDelay: arguments.retryDelay ?? .seconds(1),
            maxDelay: arguments.retryDelay ?? .seconds(600), budget: nil)
        retry.maxElapsed = arguments.retryLimit
        retry.maxServerDelay = .seconds(86400)
        retry.hasJitter = false
        retry.isForAnyMethod = true
        if arguments.retriesAllErrors {
            // A response is an error only if its status is temporary.
            retry.condition = { [statuses = retry.statuses] error in
                error.code != .status || statuses.contains(error.status ?? 0)
            }
        }
        return retry
    }
}

/// Reports when and why a request is sent again.
private struct RetryReporter: Observer {
    let count: Int
    let warn: @Sendable (String) -> Void
    private let problems = Lock<[UInt64: (String, Int)]>([:])

    init(count: Int, warn: @escaping @Sendable (String) -> Void) {
        self.count = count
        self.warn = warn
    }

    func observe(_ event: Event) {
        switch event.change {
        case .exchangeEnded(let number, .answered(let response)):
            problems.withLock { $0[event.callID] = ("status \(response.status)", number) }
        case .exchangeEnded(let number, .failed(let error)):
            problems.withLock { $0[event.callID] = (error.message, number) }
        case .waiting(let time, .retry):
            guard let (problem, number) = problems.withLock({ $0[event.callID] }) else { return }
            let when = time > .zero ? "in \(Format.seconds(time))" : "now"
            let left = count - number
            warn("\(problem); retrying \(when), \(left) \(left == 1 ? "retry" : "retries") left")
        case .stopping:
            problems.withLock { _ = $0.removeValue(forKey: event.callID) }
        default:
            break
        }
    }
}

/// Warns that a response could not be stored in the cache. Without a warning, the user would expect a later run to find
/// the response.
private struct CacheStoreReporter: Observer {
    let warn: @Sendable (String) -> Void

    func observe(_ event: Event) {
        if case .notStored(let error) = event.change {
            warn("cannot store the response in the cache: \(error.message)")
        }
    }
}
