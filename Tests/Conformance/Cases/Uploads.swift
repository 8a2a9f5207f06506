import NetKit
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

extension ConformanceCase {
    /// Sending of request bodies.
    static let uploads: [ConformanceCase] = [
        ConformanceCase("upload-from-anywhere") { fixture in
            let content = pattern(40_000)
            let pieces: [Bytes] = [Bytes(Array(content[..<7])), [], Bytes(Array(content[7...]))]
            let folder = try TemporaryFolder()
            try folder.write(content, to: "body")
            let bodies: [Body] = [
                Body(Bytes(content)), .file(folder.file("body")), .stream(length: 40_000) { Pieces(pieces) },
                .stream { Pieces(pieces) }, .once(Pieces(pieces)), .once(length: 40_000, Pieces(pieces)),
                .pull { reader(of: content) }, .pull(length: 40_000) { reader(of: content) },
            ]
            try fixture.play("/", ServerReply())
            let agent = fixture.agent()
            for body in bodies {
                _ = try await agent.send(Request<Void>(fixture.url("/"), method: .put, body: body))
                #expect(fixture.requests.last?.body == content)
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/"), method: .get))
                _ = try await stream.collect(upTo: 0)
            }
            #expect(fixture.requests.count == 2 * bodies.count)
        },
        ConformanceCase("upload-of-a-form") { fixture in
            let folder = try TemporaryFolder()
            try folder.write(Array("from a file".utf8), to: "f.txt")
            var form = MultipartBody(boundary: "B")
            form.append("1", name: "a")
            form.append(.file(folder.file("f.txt")), name: "f")
            form.append(.stream(length: 5) { Pieces([Array("piece".utf8)]) }, name: "s")
            let named = "Content-Disposition: form-data; name="
            let expected =
                "--B\r\n\(named)\"a\"\r\n\r\n1\r\n--B\r\n\(named)\"f\"; filename=\"f.txt\"\r\n"
                + "Content-Type: text/plain\r\n\r\nfrom a file\r\n--B\r\n\(named)\"s\"\r\n\r\npiece\r\n--B--\r\n"
            try fixture.play("/", ServerReply())
            let agent = fixture.agent()
            for _ in 0..<2 {
                _ = try await agent.send(Request<Void>(fixture.url("/"), method: .post, body: try .multipart(form)))
                #expect(fixture.requests.last?.body == Array(expected.utf8))
            }
        },
        ConformanceCase("upload-of-nothing") { fixture in
            try fixture.play("/", ServerReply())
            let agent = fixture.agent()
            for body in [Body([]), .stream(length: 0) { Pieces([Bytes]()) }, .stream { Pieces([Bytes]()) }] {
                _ = try await agent.send(Request<Void>(fixture.url("/"), method: .post, body: body))
                #expect(fixture.requests.last?.body == [])
            }
        },
        ConformanceCase("upload-of-another-length") { fixture in
            try fixture.play("/", ServerReply())
            let agent = fixture.agent()
            for (announced, given) in [(3, 2), (2, 3), (1, 0)] {
                let bytes = Bytes(pattern(given))
                let bodies: [Body] = [
                    .stream(length: announced) { Pieces([bytes]) }, .once(length: announced, Pieces([bytes])),
                    .pull(length: announced) { reader(of: Array(bytes)) },
                ]
                for body in bodies {
                    let error = await thrown { () throws(NetError) in
                        _ = try await agent.send(Request<Void>(fixture.url("/"), method: .post, body: body))
                    }
                    #expect(error?.code == .bodyLength, "\(announced) announced, \(given) given")
                    #expect(error?.isRetryable == false)
                }
            }
        },
        ConformanceCase("upload-whose-source-fails") { fixture in
            struct Cause: Error {}
            try fixture.play("/", ServerReply())
            let body = Body.stream(length: 9) {
                Pieces<Bytes> { index in
                    if index == 0 { return [1] }
                    throw Cause()
                }
            }
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().send(Request<Void>(fixture.url("/"), method: .post, body: body))
            }
            #expect(error?.code == .bodySource)
            #expect(error?.underlying is Cause)
        },
        ConformanceCase("upload-of-a-file-that-is-not-there") { fixture in
            let folder = try TemporaryFolder()
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().send(
                    Request<Void>(fixture.url("/"), method: .post, body: .file(folder.file("none"))))
            }
            #expect(error?.code == .file)
            #expect(error?.message.contains(folder.file("none")) == true)
        },
        ConformanceCase("upload-of-a-file-that-is-no-regular-one-waits-for-nobody") { fixture in
            let folder = try TemporaryFolder()
            try #require(unsafe mkfifo(folder.file("pipe"), 0o600) == 0)
            for path in ["/dev/null", folder.path, folder.file("pipe")] {
                let error = await thrown { () throws(NetError) in
                    _ = try await fixture.agent().send(
                        Request<Void>(fixture.url("/"), method: .post, body: .file(path)))
                }
                try #require(error?.code == .file)
                #expect(error?.message.contains("'\(path)' is not a regular file") == true)
            }
        },
        ConformanceCase("early-response-to-an-upload") { fixture in
            var reply = ServerReply(status: 413, body: Array("too large".utf8))
            reply.isEarly = true
            try fixture.play("/", reply)
            let agent = fixture.agent()
            let response = try await agent.send(
                Request<Bytes>(fixture.url("/"), method: .post, body: Body(Bytes(pattern(4 << 20)))))
            #expect(response.status == 413)
            #expect(response.bytes == Bytes(Array("too large".utf8)))
            try fixture.play("/next", .text("next"))
            #expect(try await agent.send(Request<String>(fixture.url("/next"))).value == "next")
        },
    ]
}

/// Returns a body reader that yields at most 1,000 bytes per read.
private func reader(of content: [UInt8]) -> Body.Reader {
    var next = 0
    return { span in
        let count = min(span.count, content.count - next, 1000)
        for index in 0..<count {
            span[index] = content[next + index]
        }
        next += count
        return count
    }
}
