import NetKit
import Testing

extension ConformanceCase {
    /// Redirects (RFC 9110, 15.4).
    static let redirects: [ConformanceCase] = [
        ConformanceCase("infinite-redirect") { fixture in
            try fixture.play("/", .redirect(to: "/"))
            let agent = fixture.agent()
            var request = Request<Bytes>(fixture.url("/"))
            request.limits = Limits()
            request.limits.maxRedirects = 5
            let error = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(error?.code == .tooManyRedirects)
            #expect(fixture.requests.count == 6)
            let streamed = await thrown { [request] () throws(NetError) in _ = try await agent.stream(request) }
            #expect(streamed?.code == .tooManyRedirects)
            request.limits.maxRedirects = 0
            let first = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(first?.code == .tooManyRedirects)
            #expect(fixture.requests.count == 13)
        },
        ConformanceCase("redirect-methods") { fixture in
            let rules: [(status: Int, method: Method, next: String)] = [
                (301, .post, "GET"), (302, .post, "GET"), (303, .post, "GET"), (307, .post, "POST"),
                (308, .post, "POST"), (301, .put, "PUT"), (302, .delete, "DELETE"), (303, .put, "GET"),
                (303, .head, "HEAD"), (301, .get, "GET"),
            ]
            let agent = fixture.agent()
            for rule in rules {
                try fixture.play("/a", .redirect(to: "/b", status: rule.status))
                let hasBody = rule.method == .post || rule.method == .put
                let response = try await agent.send(
                    Request<Bytes>(fixture.url("/a"), method: rule.method, body: hasBody ? .text("body") : nil))
                let hop = try #require(fixture.requests.last)
                let keepsBody = hasBody && rule.next == rule.method.rawValue
                #expect(response.url == fixture.url("/b"))
                #expect(response.metrics.map(\.url) == [fixture.url("/a"), fixture.url("/b")])
                #expect(hop.method == rule.next, "\(rule)")
                #expect(hop.body == (keepsBody ? Array("body".utf8) : []), "\(rule)")
                #expect((hop.fields["Content-Type"] != nil) == keepsBody, "\(rule)")
            }
        },
        ConformanceCase("redirect-locations-are-relative") { fixture in
            try fixture.play("/a/b/c", .redirect(to: "../d?x=1"))
            try fixture.play("/a/d", .redirect(to: "?x=2"), .redirect(to: "e"))
            try fixture.play("/a/e", .text("end"))
            let response = try await fixture.agent().send(Request<String>(fixture.url("/a/b/c")))
            #expect(response.value == "end")
            #expect(fixture.requests.map(\.target) == ["/a/b/c", "/a/d?x=1", "/a/d?x=2", "/a/e"])
        },
        ConformanceCase("a-stream-tells-the-way-it-came") { fixture in
            var first = ServerReply.redirect(to: "/b", status: 301)
            first.fields.append(.init(name: "X-Way", value: "first"))
            try fixture.play("/a", first)
            try fixture.play("/b", .redirect(to: "/c"))
            try fixture.play("/c", ServerReply(body: pattern(9), hold: .inBody(after: 0)))
            let stream = try await fixture.agent().stream(Request<Bytes>(fixture.url("/a")))
            #expect(stream.url == fixture.url("/c"))
            #expect(stream.earlierHeads.map(\.status) == [301, 302])
            #expect(stream.earlierHeads.map(\.url) == [fixture.url("/a"), fixture.url("/b")])
            #expect(stream.earlierHeads.map { $0.headers["X-Way"] } == ["first", nil])
            #expect(stream.metrics.map(\.status) == [301, 302, 200])
            #expect(stream.metrics.last?.ended == nil)
        },
        ConformanceCase("redirect-may-be-the-response") { fixture in
            var reply = ServerReply.redirect(to: "/b")
            reply.body = Array("look there".utf8)
            try fixture.play("/a", reply)
            var request = Request<Bytes>(fixture.url("/a"))
            request.redirects = .return
            let response = try await fixture.agent().send(request)
            #expect(response.status == 302)
            #expect(response.headers["Location"] == "/b")
            #expect(response.bytes == Bytes(Array("look there".utf8)))
            #expect(fixture.requests.count == 1)
        },
        ConformanceCase("redirect-without-a-location-is-the-response") { fixture in
            try fixture.play("/", ServerReply(status: 302, body: Array("nowhere".utf8)))
            let response = try await fixture.agent().send(Request<Bytes>(fixture.url("/")))
            #expect(response.status == 302)
            #expect(response.bytes == Bytes(Array("nowhere".utf8)))
        },
        ConformanceCase("redirect-to-no-web-place-is-refused") { fixture in
            let locations: [(String, NetError.Code)] = [
                ("ftp://a.test/", .redirectRefused), ("file:///etc/passwd", .redirectRefused),
                ("http:///x", .badRedirect),
            ]
            for (place, code) in locations {
                try fixture.play("/", .redirect(to: place))
                let error = await thrown { () throws(NetError) in
                    _ = try await fixture.agent().send(Request<Bytes>(fixture.url("/")))
                }
                #expect(error?.code == code, "\(place)")
            }
        },
        ConformanceCase("redirect-takes-no-secret-elsewhere") { fixture in
            let secrets: Headers = [
                "Authorization": "Bearer secret", "Cookie": "secret=1", "X-Api-Key": "secret", "Accept": "a/b",
            ]
            for status in [301, 302, 303, 307, 308] {
                try fixture.play("/a", .redirect(to: fixture.urlOfOtherOrigin("/b"), status: status))
                let response = try await fixture.agent().send(
                    Request<Bytes>(fixture.url("/a"), headers: secrets))
                #expect(response.url == fixture.urlOfOtherOrigin("/b"))
                let here = try #require(fixture.requests.last)
                for field in secrets {
                    #expect(here.fields[field.name] == field.value)
                }
                let there = try #require(fixture.requestsElsewhere.last)
                #expect(!there.fields.contains { $0.value.contains("secret") })
                #expect(there.fields["Accept"] == "a/b")
            }
            #expect(fixture.requestsElsewhere.count == 5)
        },
        ConformanceCase("redirect-and-a-body-that-is-read-once") { fixture in
            try fixture.play("/a", .redirect(to: "/b", status: 307))
            let agent = fixture.agent()
            let once = Request<Bytes>(fixture.url("/a"), method: .post, body: .once(length: 2, Pieces([[1, 2]])))
            let error = await thrown { () throws(NetError) in _ = try await agent.send(once) }
            #expect(error?.code == .notRewindable)
            let again = Request<Bytes>(
                fixture.url("/a"), method: .post, body: .stream(length: 2) { Pieces([[1, 2]]) })
            #expect(try await agent.send(again).status == 200 || fixture.requests.last?.target == "/b")
            #expect(fixture.requests.last?.body == [1, 2])
        },
    ]
}
