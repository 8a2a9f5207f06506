/// A redirect that is about to be followed; see ``TransferHooks/redirect``.
public struct RedirectStep: Sendable {
    /// The redirect's head.
    public let head: ResponseHead
    /// The redirected request.
    public let request: Request<Bytes>
    /// The next request (RFC 9110, 15.4). At another origin it has no credentials and no fields that identify the user.
    public let next: Request<Bytes>
    /// The number of redirects that were followed before.
    public let count: Int

    /// Creates a step; `nil` if the response is no redirect to follow. Throws the error that would end the call without
    /// a hook.
    init?(
        _ head: ResponseHead, after request: Request<Bytes>, policy: RedirectPolicy, count: Int
    ) throws(NetError) {
        var asked = request
        asked.redirects = policy
        asked.url = asked.url.secured(as: head.url)  // The next hop depends on the URL that responded.
        guard let next = try Self.next(after: asked, head, followed: count) else { return nil }
        self.head = head
        self.request = asked
        self.next = next
        self.count = count
    }
}

/// The action for a redirect.
public enum RedirectAnswer: Sendable {
    /// Sends ``RedirectStep/next``.
    case follow
    /// Sends this request instead, with any URL, fields and credentials.
    case send(Request<Bytes>)
    /// Returns the redirect as the response.
    case deliver
    /// Ends the call with ``NetError/Code/redirectRefused`` and this error as its ``NetError/underlying``; a
    /// ``NetError`` ends it unchanged.
    case fail(any Error)
}

extension RedirectStep {
    // Fields that may go to another origin: they select a representation and do not identify the user.
    fileprivate static let safeElsewhere: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-length", "content-type", "expect", "if-range", "last-event-id", "pragma", "range",
        "user-agent",
    ]

    /// Returns the request that a redirect leads to, or `nil` if this head is the final response. A pure function with
    /// the engine's rules.
    package static func next(
        after request: Request<Bytes>, _ head: ResponseHead, followed: Int
    ) throws(NetError) -> Request<Bytes>? {
        let policy = request.redirects ?? .follow
        guard [301, 302, 303, 307, 308].contains(head.status), policy != .return,
            let location = head.headers.reference("Location"), !location.isEmpty
        else { return nil }
        let limit = max(0, (request.limits ?? Limits()).maxRedirects)
        if followed >= limit {
            throw NetError(.tooManyRedirects, "redirected more than \(limit) times")
        }
        var next = request
        next.url = try place(of: location, after: request)
        if policy != .followDowngrades, request.url.hasScheme("https"), next.url.hasScheme("http") {
            throw NetError(.redirectRefused, "redirect from https to http is refused")
        }
        if becomesGet(request.method, head.status) {
            next.method = .get
            next.body = nil
            next.headers = next.headers.without { $0.hasPrefix("content-") || $0 == "expect" }
        }
        if request.url.hasSameOrigin(as: next.url) {
            // They belong to the origin, whether the Location contains it or not.
            next.url = next.url.withUserinfo(of: request.url)
        } else {
            // A server may not choose credentials for another origin (RFC 9110, 4.2.4).
            next.url = next.url.withoutUserinfo
            next.headers = next.headers.safeElsewhere
            next.credentials = nil
            next.unixSocket = nil
            next.content.rareParts.isElsewhere = true  // permanently
        }
        return next
    }

    private static func place(of location: String, after request: Request<Bytes>) throws(NetError) -> String {
        let url = request.url
        let base = String(url.prefix { $0 != "#" })
        var next: String
        do throws(NetError) {
            next = try resolveReference(
                location, at: base, keepsDotSegments: request.keepsDotSegments)
            // An invalid host or port is the server's error here, not the caller's.
            _ = try joinURL(next, to: base, keepsBasePath: false)
        } catch {
            throw NetError(.badRedirect, "the Location field is no URL", underlying: error)
        }
        guard next.hasScheme("http") || next.hasScheme("https") else {
            throw NetError(.redirectRefused, "redirect to another scheme than http and https is refused")
        }
        let host = next.firstRange(of: "://").map { next[$0.upperBound...].prefix { !"/?#".contains($0) } }
        if (host ?? "").isEmpty {
            throw NetError(.badRedirect, "the Location field names no host")
        }
        // RFC 9110, 10.2.2: a Location without a fragment inherits that of the requested URL.
        if !location.contains("#") {
            next += url.dropFirst(base.count)
        }
        return next
    }

    /// Whether the method becomes GET (RFC 9110, 15.4). 303 requests a GET. 301 and 302 turn a POST into a GET, for
    /// historical reasons. 307 and 308 keep the method.
    static func becomesGet(_ method: Method, _ status: Int) -> Bool {
        status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
    }
}

extension Headers {
    /// The fields that may go to any origin.
    var safeElsewhere: Headers { without { !RedirectStep.safeElsewhere.contains($0) } }

    fileprivate func without(_ isLeftOut: (String) -> Bool) -> Headers {
        Headers(filter { !isLeftOut($0.name.lowercased()) })
    }
}
