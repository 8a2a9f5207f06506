import NetKit
import Testing

extension ConformanceCase {
    /// Requests that are refused before they are sent, and a destination that cannot be written.
    static let refusals: [ConformanceCase] = [
        ConformanceCase("refused-before-it-is-sent") { scene in
            try scene.play("/", SceneReply())
            let agent = scene.agent { $0.userAgent = nil }
            let url = scene.url("/")
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
                    _ = try await agent.save(Request<Bytes>(url), to: path)
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
            #expect(scene.requests.isEmpty)
        },
        ConformanceCase("taken-with-a-length-of-its-own") { scene in
            try scene.play("/", SceneReply())
            let agent = scene.agent()
            for body in [Body([1, 2, 3]), .stream(length: 3) { Pieces([[1, 2, 3] as Bytes]) }] {
                let request = Request<Void>(
                    scene.url("/"), method: .put, headers: ["Content-Length": "3"], body: body)
                _ = try await agent.send(request)
                #expect(scene.requests.last?.body == [1, 2, 3])
            }
        },
        ConformanceCase("save-where-nothing-can-be") { scene in
            let folder = try TemporaryFolder()
            try scene.play("/", .text("body"))
            let error = await thrown { () async throws(NetError) in
                _ = try await scene.agent().save(Request<Bytes>(scene.url("/")), to: folder.file("missing/place"))
            }
            #expect(error?.code == .file)
            #expect(error?.message.contains("missing/place") == true, "\(error as Any)")
        },
    ]
}
