internal import CNetCore

/// The C core's rules of an HTTP cache (RFC 9111), for one request and one policy (`netcore/cache_functions.h`).
///
/// Times are in milliseconds since 1970, and durations in milliseconds. A class, because copies of its texts would cost
/// more than a decision.
final class HTTPCacheRules: Sendable {
    /// The order in which cache and network are used. ``CacheMode`` has further modes, which the evaluator implements
    /// with these.
    enum Mode: Sendable {
        case standard
        case reload
        case cacheOnly
        case noStore
        case networkFirst
    }

    private let method: String
    private let url: String
    private let headers: Headers
    private let followsRedirects: Bool
    private let heuristicFraction: Double
    /// The longest heuristic lifetime: a day.
    private static let heuristicLimit: Int64 = 24 * 60 * 60 * 1000
    private let staleWhileRevalidate: Int64
    private let staleIfError: Int64

    init(_ request: Request<Bytes>, _ policy: HTTPCachePolicy) {
        method = request.method.rawValue
        url = request.url
        headers = request.headers
        followsRedirects = request.redirects != .return
        heuristicFraction = policy.heuristicFraction
        switch policy.mode {
        case .staleWhileRevalidate(let window):
            staleWhileRevalidate = max(0, window.wholeMilliseconds)
            staleIfError = 0
        case .staleIfError(let window):
            staleWhileRevalidate = 0
            // In the core, 0 stands for no time. A time of zero still allows the use of a fresh response.
            staleIfError = max(1, window.wholeMilliseconds)
        default:
            staleWhileRevalidate = 0
            staleIfError = 0
        }
    }

    /// Decides what to do for the request (RFC 9111, 4).
    ///
    /// - Parameter stored: the stored response for the request's URL and Vary fields; `nil` if there is none.
    func decision(on stored: CachedResponse?, at now: Int64, _ mode: Mode) -> HTTPCacheDecision {
        unsafe withRequest { request in
            unsafe Self.withStored(stored) { stored in
                var policy = corePolicy(mode)
                return HTTPCacheDecision(unsafe nc_cache_decide(&request, stored, &policy, now))
            }
        }
    }

    /// Returns the form in which the stored response is used because the network or the server has failed (RFC 5861,
    /// 4). Returns `nil` if the failure is the result of the call.
    ///
    /// - Parameter status: the status of the server; `nil` if the network failed.
    func formAfterFailure(
        _ status: Int?, _ stored: CachedResponse, at now: Int64, _ mode: Mode
    ) -> HTTPCacheDecision.Form? {
        unsafe withRequest { request in
            unsafe Self.withStored(stored) { stored in
                var policy = corePolicy(mode)
                let decision = unsafe nc_cache_decide_after_failure(
                    &request, stored, &policy, now, Self.coreStatus(status))
                return decision.action == .NC_CACHE_USE ? HTTPCacheDecision.Form(decision) : nil
            }
        }
    }

    /// Returns true if a stale response may be used instead of one with this status, or after a failure of the network.
    static func isFailure(_ status: Int?) -> Bool { nc_cache_is_failure(coreStatus(status)) }

    /// 0 stands for a failure of the network.
    private static func coreStatus(_ status: Int?) -> UInt16 { status.map { UInt16(clamping: Swift.max(1, $0)) } ?? 0 }

    /// Returns the part of a response that is stored, without HTTP version and URL. Returns `nil` if the response must
    /// not be stored (RFC 9111, 3).
    func storable(
        _ status: Int, _ headers: Headers, sent: Int64, received: Int64, _ mode: Mode
    ) -> StoredResponse? {
        let stored = unsafe withResponse(status, headers, sent, received, mode) {
            (request, response, policy) -> StoredResponse? in
            var freshness = nc_cache_freshness()
            let storability = unsafe nc_cache_may_store(&request, &response, &policy, &freshness)
            guard storability == .NC_CACHE_STORABLE else { return nil }
            var head = StoredResponse.Head()
            head.status = status
            head.received = received
            head.freshness = HTTPFreshness(freshness)
            return StoredResponse(head, headers: unsafe Headers(storableIn: response.headers, response.header_count))
        }
        guard let stored else { return nil }
        var head = stored.head
        head.hasValidator = stored.headers.hasValidator
        return StoredResponse(head, headers: stored.headers.dated(received))
    }

    /// Returns true if a response that was updated by a 304 response may still be stored.
    func isStorable(_ updated: StoredResponse, _ mode: Mode) -> Bool {
        let (head, received) = (updated.head, updated.head.received)
        return unsafe withResponse(head.status, updated.headers, received, received, mode) {
            (request, response, policy) in
            unsafe request.method = nc_slice()
            return unsafe nc_cache_may_store(&request, &response, &policy, nil) == .NC_CACHE_STORABLE
        }
    }

    /// Computes the freshness of a response at its arrival (RFC 9111, 4.2).
    func freshness(_ status: Int, _ headers: Headers, sent: Int64, received: Int64) -> HTTPFreshness {
        unsafe withResponse(status, headers, sent, received, .standard) { (_, response, policy) in
            HTTPFreshness(unsafe nc_cache_freshness_of(&response, &policy))
        }
    }

    /// Returns true if a new response with this status, which is not stored, makes the stored one obsolete.
    func isSuperseded(by status: Int) -> Bool {
        unsafe withRequest { request in unsafe nc_cache_supersedes(&request, UInt16(clamping: status)) }
    }

    /// Returns true if a 304 response to the caller's own condition confirms the stored response. It may confirm
    /// another version that the caller has (RFC 9111, 4.3.4).
    func isConfirmed(_ stored: StoredResponse, byOwn notModified: Headers) -> Bool {
        unsafe withRequest { request in
            unsafe stored.withCoreValue { stored in
                unsafe notModified.withCoreResponse(status: 304) { response in
                    unsafe nc_cache_confirms_own(&stored, &response, &request)
                }
            }
        }
    }

    /// Returns the URLs whose stored responses a response makes invalid (RFC 9111, 4.4). After a successful request whose
    /// method is not safe, these are the request's URL and the same-origin URLs in Location and Content-Location.
    static func invalidatedURLs(_ method: Method, _ url: String, status: Int, _ headers: Headers) -> [String] {
        unsafe method.rawValue.withSlice { methodText in
            unsafe url.withSlice { urlText in
                unsafe headers.withCoreResponse(status: status) { response in
                    var request = unsafe nc_cache_request()
                    unsafe request.method = methodText
                    unsafe request.url = urlText
                    var room = unsafe nc_buf_init(4 * Int(NC_URL_MAX_BYTES))
                    defer { unsafe nc_buf_deinit(&room) }
                    var found = nc_cache_invalidation()
                    guard unsafe nc_cache_invalidates(&found, &room, &request, &response) == .NC_OK else {
                        return [url]
                    }
                    let urls = unsafe [found.urls.0, found.urls.1, found.urls.2]
                    return unsafe urls.prefix(found.count).map { unsafe $0.text }
                }
            }
        }
    }

    // MARK: Values of the core

    private func withRequest<Result>(_ body: (inout nc_cache_request) -> Result) -> Result {
        unsafe method.withSlice { method in
            unsafe url.withSlice { url in
                unsafe headers.withCoreFields { fields in
                    var value = unsafe nc_cache_request()
                    unsafe value.method = method
                    unsafe value.url = url
                    unsafe value.headers = UnsafePointer(fields.baseAddress)
                    unsafe value.header_count = fields.count
                    unsafe value.follows_redirects = followsRedirects
                    return unsafe body(&value)
                }
            }
        }
    }

    private static func withStored<Result>(
        _ stored: CachedResponse?, _ body: (UnsafePointer<nc_cache_stored>?) -> Result
    ) -> Result {
        guard let stored else { return body(nil) }
        return unsafe stored.storedResponse.withCoreValue { value in
            unsafe value.body_bytes = UInt64(stored.body.count)
            return unsafe body(&value)
        }
    }

    private func corePolicy(_ mode: Mode) -> nc_cache_policy {
        let coreMode: nc_cache_mode =
            switch mode {
            case .standard: .NC_CACHE_MODE_DEFAULT
            case .reload: .NC_CACHE_MODE_RELOAD
            case .cacheOnly: .NC_CACHE_MODE_CACHE_ONLY
            case .noStore: .NC_CACHE_MODE_NO_STORE
            case .networkFirst: .NC_CACHE_MODE_NETWORK_FIRST
            }
        return nc_cache_policy(
            mode: coreMode, stale_while_revalidate_ms: staleWhileRevalidate, stale_if_error_ms: staleIfError,
            heuristic_fraction: heuristicFraction, heuristic_max_ms: Self.heuristicLimit)
    }

    private func withResponse<Result>(
        _ status: Int, _ headers: Headers, _ sent: Int64, _ received: Int64, _ mode: Mode,
        _ body: (inout nc_cache_request, inout nc_cache_response, inout nc_cache_policy) -> Result
    ) -> Result {
        unsafe withRequest { request in
            unsafe headers.withCoreResponse(status: status) { response in
                var policy = corePolicy(mode)
                unsafe response.sent_at_ms = sent
                unsafe response.received_at_ms = received
                return unsafe body(&request, &response, &policy)
            }
        }
    }
}

/// A decision of ``HTTPCacheRules``.
struct HTTPCacheDecision: Sendable {
    /// The part of a stored response that a request gets.
    enum Form: Sendable, Equatable {
        /// The whole response.
        case whole
        /// Its head, for HEAD.
        case head
        /// A 304 response, because the caller has this version already.
        case notModified
        /// A 206 response with these bytes.
        case part(Range<Int>)
    }

    /// What to do, and why.
    let decision: CacheDecision
    /// The part of the stored response, if it is used.
    let form: Form
    /// Whether the request must not be sent, because of only-if-cached (RFC 9111, 5.2.1.7).
    let isGatewayTimeout: Bool
    /// Whether the stored response may have been a response to this request, so that it may be revalidated.
    let isOwn: Bool
    /// The age of the stored response; `nil` without one, or if the clock was set back.
    let age: Int64?
}

extension HTTPCacheDecision {
    fileprivate init(_ value: nc_cache_decision) {
        let reason = CacheReason(value.reason)
        switch value.action {
        case .NC_CACHE_USE: decision = .use(reason)
        case .NC_CACHE_REVALIDATE: decision = .revalidate(reason)
        default: decision = .fetch(reason)
        }
        form = Form(value)
        isGatewayTimeout = value.action == .NC_CACHE_GATEWAY_TIMEOUT
        isOwn = ![.NC_CACHE_REASON_ABSENT, .NC_CACHE_REASON_REDIRECT].contains(value.reason)
        age = value.age_ms < 0 ? nil : value.age_ms
    }
}

extension HTTPCacheDecision.Form {
    fileprivate init(_ value: nc_cache_decision) {
        switch value.form {
        case .NC_CACHE_FORM_HEAD: self = .head
        case .NC_CACHE_FORM_NOT_MODIFIED: self = .notModified
        case .NC_CACHE_FORM_PART: self = .part(Int(value.first)..<Int(value.last) + 1)
        default: self = .whole
        }
    }
}

extension CacheReason {
    fileprivate init(_ reason: nc_cache_reason) {
        switch reason {
        case .NC_CACHE_REASON_FRESH: self = .fresh
        case .NC_CACHE_REASON_STALE_WHILE_REVALIDATE: self = .staleWhileRevalidate
        case .NC_CACHE_REASON_STALE_IF_ERROR: self = .staleIfError
        case .NC_CACHE_REASON_STALE_ALLOWED: self = .staleAllowed
        case .NC_CACHE_REASON_ABSENT: self = .absent
        case .NC_CACHE_REASON_IGNORED: self = .ignored
        case .NC_CACHE_REASON_NETWORK_FIRST: self = .networkFirst
        case .NC_CACHE_REASON_STALE: self = .stale
        case .NC_CACHE_REASON_NO_CACHE: self = .noCache
        case .NC_CACHE_REASON_REQUEST_DIRECTIVE: self = .requestDirective
        case .NC_CACHE_REASON_VARIES: self = .varies
        case .NC_CACHE_REASON_REDIRECT: self = .invalidData
        case .NC_CACHE_REASON_OTHER_USER: self = .otherIdentity
        default: self = .uncacheable
        }
    }
}
