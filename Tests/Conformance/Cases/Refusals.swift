import NetKit
import Testing

extension ConformanceCase {
    /// Requests that are refused before they are sent, and a destination that cannot be written.
    static let refusals: [ConformanceCase] = [
        ConformanceCase("refused-before-it-is-sent") { fixture in
            try fixture.play("/", ServerReply())
            let agent = fixture.agent { $0.userAgent = nil }
            let url = fixture.url("/")
            var refused: [(NetError.Code, Request<Bytes>)] = [
                (.badURL, Request("a path alone")), (.badURL, Request("")), (.badURL, Request(url + "\n")),
                (.badURL, Request("http:///nobody")), (.badScheme, Request("ftp://files.test/")),
                (.unsupported, Request("ws://talk.test/")), (.unsupported, Request(url, method: "CONNECT")),
                (.badMethod, Request(url, method: "GE T")), (.badMethod, Request(url, method: "")),
            ]
            for fields in [
                ["A b": "c"], ["": "c"], ["A": "b\r\nC: d"], ["A": "b\0"], ["A": " b"],
                ["Transfer-Encoding": "chunked"], ["Content-Length": "7"],
            ] as [Headers] {
                refused.append((.badHeader, Request(url, headers: fields)))
            }
            var form = MultipartBody()
            form.append("1", name: "a")
            refused.append((.usage, Request(url, method: .get, body: try .multipart(form))))
            refused.append((.usage, Request(url, method: .put, body: .file(""))))
            for path in ["", "a\0b"] {
                var request = Request<Bytes>(url)
                request.unixSocket = path
                refused.append((.usage, request))
                let error = await thrown { () async throws(NetError) in
                    _ = try await agent.download(Request<Bytes>(url), to: path, options: .init(isResumable: false))
                }
                #expect(error?.code == .usage, "a file at '\(path)'")
            }
            var request = Request<Bytes>(url)
            request.credentials = .basic(user: "a:b", password: "")
            refused.append((.usage, request))
            for (code, request) in refused {
                let error = await thrown { () async throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == code, "\(request): \(error as Any)")
            }
            #expect(fixture.requests.isEmpty)
        },
        ConformanceCase("taken-with-a-length-of-its-own") { fixture in
            try fixture.play("/", ServerReply())
            let agent = fixture.agent()
            for body in [Body([1, 2, 3]), .stream(length: 3) { Pieces([[1, 2, 3] as Bytes]) }] {
                let request = Request<Void>(
                    fixture.url("/"), method: .put, headers: ["Content-Length": "3"], body: body)
                _ = try await agent.send(request)
                #expect(fixture.requests.last?.body == [1, 2, 3])
            }
        },
        ConformanceCase("save-where-nothing-can-be") { fixture in
            let folder = try TemporaryFolder()
            try fixture.play("/", .text("body"))
            let error = await thrown { () async throws(NetError) in
                _ = try await fixture.agent().download(
                    Request<Bytes>(fixture.url("/")), to: folder.file("missing/place"),
                    options: .init(isResumable: false))
            }
            #expect(error?.code == .file)
            #expect(error?.message.contains("missing/place") == true, "\(error as Any)")
        },
    ]
}
