import NetKit
import Testing

extension ConformanceCase {
    /// Statuses, fields and malformed response heads.
    static let heads: [ConformanceCase] = [
        ConformanceCase("not-http") { fixture in
            try fixture.play("/", .wire(.raw("this is no HTTP\r\n\r\n")))
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().send(Request<Bytes>(fixture.url("/")))
            }
            #expect(error?.code == .badResponse)
            #expect(error?.isRetryable == false)
        },
        ConformanceCase("interim-heads") { fixture in
            let interim = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
            try fixture.play("/", ServerReply(body: Array("end".utf8), wire: .interim(interim)))
            let agent = fixture.agent()
            let response = try await agent.send(Request<Bytes>(fixture.url("/")))
            #expect(response.status == 200)
            #expect(response.headers["Link"] == nil)
            #expect(response.bytes == Bytes(Array("end".utf8)))
            let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
            #expect(stream.status == 200)
            #expect(try await stream.collect(upTo: 9) == Bytes(Array("end".utf8)))
        },
        ConformanceCase("conflicting-lengths") { fixture in
            try fixture.play(
                "/", .wire(.raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd")))
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().send(Request<Bytes>(fixture.url("/")))
            }
            #expect(error?.code == .badResponse)
        },
        ConformanceCase("ambiguous-framing") { fixture in
            try fixture.play(
                "/",
                .wire(
                    .raw(
                        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
                    )))
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().send(Request<Bytes>(fixture.url("/")))
            }
            #expect(error?.code == .badResponse)
        },
        ConformanceCase("any-status-is-a-response") { fixture in
            let agent = fixture.agent()
            for status in [200, 299, 400, 404, 418, 500, 599, 999] {
                try fixture.play("/\(status)", ServerReply(status: status, body: Array("\(status)".utf8)))
                let response = try await agent.send(Request<Bytes>(fixture.url("/\(status)")))
                #expect(response.status == status)
                #expect(response.bytes == Bytes(Array("\(status)".utf8)))
            }
        },
        ConformanceCase("204-and-304-with-a-length") { fixture in
            let agent = fixture.agent()
            for status in [204, 304] {
                var reply = ServerReply(status: status, fields: .init(["Content-Length": "5", "X": "1"]))
                reply.body = Array("there".utf8)
                reply.hasNoBody = true
                try fixture.play("/", reply, .text("next"))
                let response = try await agent.send(Request<Bytes>(fixture.url("/")))
                #expect(response.status == status)
                #expect(response.headers["x"] == "1")
                #expect(response.bytes.isEmpty)
                // No byte of the next response was read as this response's body.
                #expect(try await agent.send(Request<String>(fixture.url("/"))).value == "next")
            }
        },
        ConformanceCase("head-with-a-length") { fixture in
            var reply = ServerReply(fields: .init(["Content-Length": "5"]))
            reply.body = Array("there".utf8)
            reply.hasNoBody = true
            try fixture.play("/", reply, .text("next"))
            let agent = fixture.agent()
            let response = try await agent.send(Request<Bytes>(fixture.url("/"), method: .head))
            #expect(response.headers["Content-Length"] == "5")
            #expect(response.bytes.isEmpty)
            #expect(fixture.requests.map(\.method) == ["HEAD"])
            #expect(try await agent.send(Request<String>(fixture.url("/"))).value == "next")
        },
        ConformanceCase("repeated-fields-keep-their-order") { fixture in
            let fields = [Headers.Field](["Set-Cookie": "a=1", "X": "m", "set-cookie": "b=2", "Set-Cookie": "c=3"])
            try fixture.play("/", ServerReply(fields: fields))
            let agent = fixture.agent()
            let sent: Headers = ["X-A": "1", "X-B": "2", "x-a": "3"]
            let response = try await agent.send(Request<Bytes>(fixture.url("/"), headers: sent))
            #expect(response.headers.values(named: "SET-COOKIE") == ["a=1", "b=2", "c=3"])
            #expect(Array(response.headers.filter { $0.name != "Content-Length" }) == fields)
            let stream = try await agent.stream(Request<Bytes>(fixture.url("/"), headers: sent))
            #expect(stream.headers.values(named: "set-cookie") == ["a=1", "b=2", "c=3"])
            for request in fixture.requests {
                #expect(Headers(request.fields.filter { $0.name.lowercased().hasPrefix("x-") }) == sent)
            }
            _ = try await stream.collect(upTo: 0)
        },
        ConformanceCase("head-limits") { fixture in
            let wide = ServerReply(fields: .init(["X": String(repeating: "x", count: 4000)]))
            let many = ServerReply(fields: (0..<60).map { Headers.Field(name: "X-\($0)", value: "") })
            for reply in [wide, many] {
                try fixture.play("/", reply)
                var request = Request<Bytes>(fixture.url("/"))
                #expect(try await fixture.agent().send(request).status == 200)
                request.limits = Limits()
                request.limits.maxHeadBytes = 2000
                request.limits.maxHeadFields = 50
                let error = await thrown { [request] () throws(NetError) in _ = try await fixture.agent().send(request)
                }
                #expect(error?.code == .headTooLarge)
            }
        },
        ConformanceCase("etag-and-304") { fixture in
            let tag = Headers.Field(name: "ETag", value: "\"v1\"")
            var unchanged = ServerReply(status: 304, fields: [tag])
            unchanged.hasNoBody = true
            try fixture.play("/", ServerReply(fields: [tag], body: Array("body".utf8)), unchanged)
            let agent = fixture.agent()
            let first = try await agent.send(Request<Bytes>(fixture.url("/")))
            let known = try #require(first.headers["etag"])
            let second = try await agent.send(
                Request<Bytes>(fixture.url("/"), headers: ["If-None-Match": known]))
            #expect(second.status == 304)
            #expect(second.headers["ETag"] == known)
            #expect(second.bytes.isEmpty)
            #expect(fixture.requests.map { $0.fields["If-None-Match"] } == [nil, "\"v1\""])
        },
        ConformanceCase("any-method-is-sent") { fixture in
            let agent = fixture.agent()
            for method in ["GET", "DELETE", "OPTIONS", "PROPFIND", "M-SEARCH", "get"] {
                _ = try await agent.send(Request<Bytes>(fixture.url("/a?b=c"), method: Method(rawValue: method)))
                #expect(fixture.requests.last?.method == method)
                #expect(fixture.requests.last?.target == "/a?b=c")
            }
        },
    ]
}
