import NetKit

/// What becomes of a redirect: a pure decision, as the engine's.
struct StubRedirect {
    // What may follow to another origin: it says what is wanted, not who wants it.
    private static let safeElsewhere: Set<String> = [
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "content-encoding",
        "content-language", "content-length", "content-type", "expect", "pragma", "range", "user-agent",
    ]

    /// The next request, or nil when this reply is the response.
    static func next(
        after request: Request<Bytes>, _ reply: StubReply, followed: Int
    ) throws(NetError) -> Request<Bytes>? {
        let policy = request.redirects ?? .follow
        guard [301, 302, 303, 307, 308].contains(reply.status), policy != .return,
            let location = reply.headers["Location"], !location.isEmpty
        else { return nil }
        let limit = max(0, (request.limits ?? Limits()).maxRedirects)
        if followed >= limit {
            throw NetError(.tooManyRedirects, "redirected more than \(limit) times")
        }
        var next = request
        next.url = try place(of: location, at: request.url)
        if policy != .followDowngrades, hasScheme("https", request.url), hasScheme("http", next.url) {
            throw NetError(.redirectRefused, "redirect from https to http is refused")
        }
        if becomesGet(request.method, reply.status) {
            next.method = .get
            next.body = nil
            next.headers = next.headers.without { $0.hasPrefix("content-") || $0 == "expect" }
        }
        if !request.url.hasSameOrigin(as: next.url) {
            next.headers = next.headers.without { !safeElsewhere.contains($0) }
            next.credentials = nil
            next.unixSocket = nil
        }
        return next
    }

    private static func place(of location: String, at url: String) throws(NetError) -> String {
        let base = String(url.prefix { $0 != "#" })
        var next: String
        do throws(NetError) {
            next = try resolveReference(location, at: base)
        } catch {
            throw NetError(.badRedirect, "the Location field is no URL", underlying: error)
        }
        guard hasScheme("http", next) || hasScheme("https", next) else {
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

    private static func hasScheme(_ scheme: String, _ url: String) -> Bool {
        url.prefix { $0 != ":" }.lowercased() == scheme
    }

    /// RFC 9110, 15.4: 303 asks for a GET; 301 and 302 turn a POST into a GET by long custom; 307 and 308 keep all.
    private static func becomesGet(_ method: Method, _ status: Int) -> Bool {
        status == 303 ? method != .head : (status == 301 || status == 302) && method == .post
    }
}

extension Headers {
    fileprivate func without(_ isLeftOut: (String) -> Bool) -> Headers {
        Headers(filter { !isLeftOut($0.name.lowercased()) })
    }
}
