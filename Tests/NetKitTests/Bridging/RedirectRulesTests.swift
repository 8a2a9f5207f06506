import Testing

@testable import NetKit

/// The decision of the core, as hooks and stubs get it.
struct RedirectRulesTests {
    private func head(_ status: Int, _ location: String?, at url: String = "") -> ResponseHead {
        ResponseHead(status: status, headers: location.map { ["Location": $0] } ?? [:], url: url)
    }

    private func next(
        _ request: Request<Bytes>, _ status: Int, _ location: String?, followed: Int = 0
    ) throws(NetError) -> Request<Bytes>? {
        try RedirectStep.next(after: request, head(status, location), followed: followed)
    }

    @Test func fiveStatusesWithALocationRedirect() throws {
        let request = Request<Bytes>("http://h.test/a")
        for status in -1..<1000 {
            let isRedirect = [301, 302, 303, 307, 308].contains(status)
            #expect((try next(request, status, "/b")?.url == "http://h.test/b") == isRedirect)
            #expect(try next(request, status, nil) == nil)
            #expect(try next(request, status, "") == nil)
        }
    }

    @Test(
        arguments: [
            (301, [.get: .get, .head: .head, .post: .get, .put: .put, .delete: .delete]),
            (302, [.get: .get, .head: .head, .post: .get, .put: .put, .delete: .delete]),
            (303, [.get: .get, .head: .head, .post: .get, .put: .get, .delete: .get]),
            (307, [.get: .get, .head: .head, .post: .post, .put: .put, .delete: .delete]),
            (308, [.get: .get, .head: .head, .post: .post, .put: .put, .delete: .delete]),
        ] as [(Int, [NetKit.Method: NetKit.Method])])
    func statusDecidesTheNextMethod(status: Int, methods: [NetKit.Method: NetKit.Method]) throws {
        for (method, expected) in methods {
            var request = Request<Bytes>("http://h.test/a", headers: ["Content-Type": "text/plain", "X-A": "1"])
            request.method = method
            request.body = method == .get || method == .head ? nil : Body([0x78])
            let next = try #require(try next(request, status, "/b"))
            #expect(next.method == expected)
            #expect(method.afterRedirect(status) == expected)
            let keepsBody = method == expected || method == .head
            #expect((next.body == nil) == (request.body == nil || !keepsBody))
            #expect(next.headers["X-A"] == "1")
        }
    }

    @Test func droppedBodyTakesItsFieldsAlong() throws {
        var request = Request<Bytes>(
            "http://h.test/a",
            headers: ["content-type": "a/b", "Content-X": "1", "EXPECT": "100-continue", "Accept": "*/*"])
        request.method = .post
        #expect(try next(request, 302, "/b")?.headers.map(\.name) == ["Accept"])
        #expect(try next(request, 307, "/b")?.headers.count == 4)
    }

    @Test func fieldsThatIdentifyTheUserStayAtTheirOrigin() throws {
        let safe = [
            "Accept", "accept-charset", "Accept-Encoding", "Accept-Language", "Cache-Control", "Content-Encoding",
            "Content-Language", "Content-Length", "Content-Type", "Expect", "If-Range", "Last-Event-ID", "Pragma",
            "RANGE", "User-Agent",
        ]
        let unsafe = ["Authorization", "Cookie", "X-Api-Key", "Referer", "Host", "Proxy-Authorization", "Accept-X"]
        let headers = Headers((safe + unsafe).map { Headers.Field(name: $0, value: "1") })
        var request = Request<Bytes>("http://h.test/a", headers: headers)
        request.credentials = .basic(user: "u", password: "p")
        request.unixSocket = "/run/x"
        let away = try #require(try next(request, 307, "http://i.test/"))
        #expect(away.headers.map(\.name) == safe)
        #expect(away.credentials == .inherited && away.unixSocket == nil)
        let home = try #require(try next(request, 307, "http://h.test:80/"))
        #expect(home.headers.count == safe.count + unsafe.count)
        #expect(home.credentials != .inherited && home.unixSocket != nil)
    }

    @Test(
        arguments: [
            (20, 19, true), (20, 20, false), (1, 0, true), (0, 0, false), (-3, 0, false), (.max, 1 << 20, true),
        ] as [(Int, Int, Bool)])
    func redirectsAreCounted(limit: Int, followed: Int, isFollowed: Bool) {
        var request = Request<Bytes>("http://h.test/a")
        request.limits = Limits()
        request.limits.maxRedirects = limit
        let result = Result { () throws(NetError) in try next(request, 302, "/b", followed: followed) }
        switch result {
        case .success(let next): #expect(isFollowed && next != nil)
        case .failure(let error): #expect(!isFollowed && error.code == .tooManyRedirects)
        }
    }

    @Test(
        arguments: [
            ("https://h.test/a", "http://h.test/", .redirectRefused),
            ("http://h.test/", "ftp://h.test/", .redirectRefused),
            ("http://h.test/", "file:///x", .redirectRefused), ("http://h.test/", "http:///x", .badRedirect),
            ("http://h.test/", "http://[::1", .badRedirect), ("http://h.test/", "http://h:99999/", .badRedirect),
            ("http://h.test/", "/\u{1}", .badRedirect), ("http://h.test/", "http://h<t/", .badRedirect),
        ] as [(String, String, NetError.Code)])
    func locationIsRefused(url: String, location: String, code: NetError.Code) throws {
        let error = #expect(throws: NetError.self) { try next(Request<Bytes>(url), 302, location) }
        #expect(error?.code == code)
    }

    @Test func bytesOfALocationArePercentEncoded() throws {
        let headers = Headers([Headers.Field(name: "Location", bytes: Bytes([0x2F, 0xFC, 0x20, 0x78]))])
        let head = ResponseHead(status: 302, headers: headers, url: "")
        let next = try RedirectStep.next(after: Request<Bytes>("http://h.test/"), head, followed: 0)
        #expect(next?.url == "http://h.test/%FC%20x")
    }
}
