/// A redirect that is about to be followed, see ``TransferHooks/redirect``.
public struct RedirectStep: Sendable {
    /// The redirect's head.
    public let head: ResponseHead
    /// What was asked.
    public let request: Request<Bytes>
    /// What would be asked next (RFC 9110, 15.4): at another origin without credentials and fields that say who asks.
    public let next: Request<Bytes>
    /// How many redirects were followed before.
    public let count: Int

    /// Nil when the response is none that is followed; throws what would end the call if nobody were asked.
    init?(
        _ head: ResponseHead, after request: Request<Bytes>, policy: RedirectPolicy, count: Int
    ) throws(NetError) {
        var asked = request
        asked.redirects = policy
        asked.url = asked.url.secured(as: head.url)  // What follows is judged by what answered.
        guard let next = try Self.next(after: asked, head, followed: count) else { return nil }
        self.head = head
        self.request = asked
        self.next = next
        self.count = count
    }
}

/// What becomes of a redirect.
public enum RedirectAnswer: Sendable {
    /// ``RedirectStep/next`` is asked.
    case follow
    /// This is asked instead: any URL, fields and credentials.
    case send(Request<Bytes>)
    /// The redirect itself is the response.
    case deliver
    /// The call ends with ``NetError/Code/redirectRefused``, and this underneath; with a ``NetError`` as it is.
    case fail(any Error)
}

extension RedirectStep {
    // What may follow to another origin: it says what is wanted, not who wants it.
    fileprivate static let safeElsewhere: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-length", "content-type", "expect", "if-range", "last-event-id", "pragma", "range",
        "user-agent",
    ]

    /// The request that a redirect leads to, or nil when this head is the response's: a pure decision, as the engine's.
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
            // They belong to the origin, whether the Location names it or leaves it out.
            next.url = next.url.withUserinfo(of: request.url)
        } else {
            // A server chooses no credentials for another origin (RFC 9110, 4.2.4).
            next.url = next.url.withoutUserinfo
            next.headers = next.headers.safeElsewhere
            next.credentials = nil
            next.unixSocket = nil
            next.content.rareParts.isElsewhere = true  // for good
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
            // A host or port that cannot be is the server's fault here, and not the caller's as in a URL that is sent.
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
        // RFC 9110, 10.2.2: a Location without a fragment inherits that of the URL asked.
        if !location.contains("#") {
            next += url.dropFirst(base.count)
        }
        return next
    }

    /// RFC 9110, 15.4: 303 asks for a GET; 301 and 302 turn a POST into a GET by long custom; 307 and 308 keep all.
    static func becomesGet(_ method: Method, _ status: Int) -> Bool {
        status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
    }
}

extension Headers {
    /// Those that may go to any origin.
    var safeElsewhere: Headers { without { !RedirectStep.safeElsewhere.contains($0) } }

    fileprivate func without(_ isLeftOut: (String) -> Bool) -> Headers {
        Headers(filter { !isLeftOut($0.name.lowercased()) })
    }
}
