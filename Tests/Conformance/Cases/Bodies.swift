import NetKit
import Testing

extension ConformanceCase {
    /// Framing, coding and ends of response bodies.
    static let bodies: [ConformanceCase] = [
        ConformanceCase("empty-body") { fixture in
            let agent = fixture.agent()
            for framing in [ServerReply.Framing.length, .chunked, .close] {
                try fixture.play("/", ServerReply(framing: framing))
                #expect(try await agent.send(Request<Bytes>(fixture.url("/"))).bytes.isEmpty)
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
                var chunks = stream.makeAsyncIterator()
                #expect(try await chunks.next() == nil)
                #expect(try await chunks.next() == nil)
            }
        },
        ConformanceCase("drip-read") { fixture in
            let body = pattern(200)
            let agent = fixture.agent()
            for framing in [ServerReply.Framing.length, .chunked, .close] {
                try fixture.play("/", ServerReply(body: body, framing: framing, pieceBytes: 1))
                #expect(try await agent.send(Request<Bytes>(fixture.url("/"))).bytes == Bytes(body))
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
                #expect(try await stream.collect(upTo: 200) == Bytes(body))
            }
        },
        ConformanceCase("big-body") { fixture in
            let body = pattern(4 << 20)
            let agent = fixture.agent()
            for framing in [ServerReply.Framing.length, .chunked] {
                try fixture.play("/", ServerReply(body: body, framing: framing))
                let response = try await agent.send(Request<Bytes>(fixture.url("/")))
                #expect(Array(response.bytes) == body)
                #expect(response.metrics.last?.decodedBytes == body.count)
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
                #expect(Array(try await stream.collect(upTo: body.count)) == body)
                #expect(stream.isCloseDelimited == false)
            }
        },
        ConformanceCase("close-delimited-is-marked") { fixture in
            let agent = fixture.agent()
            for framing in [ServerReply.Framing.length, .chunked, .close] {
                try fixture.play("/", ServerReply(body: Array("body".utf8), framing: framing))
                let response = try await agent.send(Request<Bytes>(fixture.url("/")))
                #expect(response.bytes == Bytes(Array("body".utf8)))
                #expect(response.isCloseDelimited == (framing == .close))
                let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
                _ = try await stream.collect(upTo: 4)
                #expect(stream.isCloseDelimited == (framing == .close))
            }
        },
        ConformanceCase("trailers") { fixture in
            let trailers = [Headers.Field](["X-Sum": "1", "x-sum": "2"])
            try fixture.play("/", ServerReply(body: pattern(50), framing: .chunked, trailers: trailers))
            let agent = fixture.agent()
            let response = try await agent.send(Request<Bytes>(fixture.url("/")))
            #expect(Array(response.trailers) == trailers)
            #expect(response.headers["X-Sum"] == nil)
            try fixture.play(
                "/", ServerReply(body: pattern(50), framing: .chunked, trailers: trailers, hold: .inBody(after: 20)))
            let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
            #expect(stream.trailers.isEmpty)
            let reading = Task { try await stream.collect(upTo: 50) }
            try await fixture.waitForHeld(1)
            #expect(stream.trailers.isEmpty)
            fixture.release()
            #expect(try await reading.value == Bytes(pattern(50)))
            #expect(Array(stream.trailers) == trailers)
        },
        ConformanceCase("truncated-body-is-an-error") { fixture in
            let agent = fixture.agent()
            try fixture.play("/", ServerReply(body: pattern(100), cutAfter: 40))
            let error = await thrown { () throws(NetError) in _ = try await agent.send(Request<Bytes>(fixture.url("/")))
            }
            #expect(error?.code == .cutShort)
            #expect(error?.response?.status == 200)
            #expect(error?.response?.bytes == Bytes(pattern(40)))
            let stream = try await agent.stream(Request<Bytes>(fixture.url("/")))
            var received: [UInt8] = []
            let streamed = await thrown { () throws(NetError) in
                for try await chunk in stream {
                    received += Array(chunk)
                }
            }
            #expect(streamed?.code == .cutShort)
            #expect(received == pattern(40))
        },
        ConformanceCase("truncated-body-is-not-saved") { fixture in
            let folder = try TemporaryFolder()
            try fixture.play("/", ServerReply(body: pattern(100), cutAfter: 40))
            let error = await thrown { () throws(NetError) in
                _ = try await fixture.agent().download(
                    Request<Bytes>(fixture.url("/")), to: folder.file("body"), options: .init(isResumable: false))
            }
            #expect(error?.code == .cutShort)
            #expect(folder.names.isEmpty)
        },
        ConformanceCase("body-limit") { fixture in
            let agent = fixture.agent()
            for framing in [ServerReply.Framing.length, .chunked, .close] {
                try fixture.play("/", ServerReply(body: pattern(1000), framing: framing, pieceBytes: 100))
                var request = Request<Bytes>(fixture.url("/"))
                request.limits = Limits()
                request.limits.maxBodyBytes = 1000
                #expect(try await agent.send(request).bytes.count == 1000)
                request.limits.maxBodyBytes = 999
                let error = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .bodyTooLarge)
                let streamed = await thrown { [request] () throws(NetError) in
                    _ = try await agent.stream(request).collect(upTo: .max)
                }
                #expect(streamed?.code == .bodyTooLarge)
            }
        },
        ConformanceCase("gzip") { fixture in
            // "hi" as a gzip file with a stored block.
            let packed: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 0, 0xFD, 0xFF, 0x68, 0x69, 0xAC, 0x2A, 0x93, 0xD8, 2, 0, 0,
                0,
            ]
            try fixture.play("/", .wire(.coded(packed, coding: "gzip")))
            let agent = fixture.agent()
            var request = Request<Bytes>(fixture.url("/"))
            #expect(try await agent.send(request).bytes == Bytes(Array("hi".utf8)))
            #expect(try await agent.stream(request).collect(upTo: 9) == Bytes(Array("hi".utf8)))
            request.acceptsCodings = false
            #expect(try await agent.send(request).bytes == Bytes(packed))
        },
        ConformanceCase("a-head-comes-before-its-body") { fixture in
            try fixture.play("/", ServerReply(body: pattern(10), hold: .inBody(after: 4)))
            let stream = try await fixture.agent().stream(Request<Bytes>(fixture.url("/")))
            #expect(stream.status == 200)
            var chunks = stream.makeAsyncIterator()
            var received: [UInt8] = []
            while received.count < 4, let chunk = try await chunks.next() {
                received += Array(chunk)
            }
            #expect(received == pattern(4))
            let rest = Task { [chunks] in
                var chunks = chunks
                var rest: [UInt8] = []
                while let chunk = try await chunks.next() {
                    rest += Array(chunk)
                }
                return rest
            }
            try await fixture.waitForHeld(1)
            fixture.release()
            #expect(try await rest.value == pattern(6, from: 4))
        },
        ConformanceCase("under-read") { fixture in
            try fixture.play("/big", ServerReply(body: pattern(4 << 20)))
            try fixture.play("/small", .text("small"))
            let agent = fixture.agent()
            let first = try await readOneChunk(of: agent.stream(Request<Bytes>(fixture.url("/big"))))
            #expect(first.count > 0 && first == pattern(first.count))
            #expect(try await agent.send(Request<String>(fixture.url("/small"))).value == "small")
        },
        ConformanceCase("a-stream-is-read-once") { fixture in
            try fixture.play("/", .text("body"))
            let stream = try await fixture.agent().stream(Request<Bytes>(fixture.url("/")))
            _ = try await stream.collect(upTo: 4)
            let again = await thrown { () throws(NetError) in _ = try await stream.collect(upTo: 4) }
            #expect(again?.code == .usage)
        },
        ConformanceCase("a-body-is-saved-whole") { fixture in
            let folder = try TemporaryFolder()
            let body = pattern(200_000)
            try fixture.play("/", ServerReply(body: body), ServerReply(status: 404, body: Array("none".utf8)))
            let agent = fixture.agent()
            let request = Request<Bytes>(fixture.url("/"))
            let saved = try await agent.download(request, to: folder.file("body"), options: .init(isResumable: false))
            #expect(saved.value.path == folder.file("body"))
            #expect(saved.value.byteCount == body.count)
            #expect(saved.bytes.isEmpty)
            let error = await thrown { () throws(NetError) in
                _ = try await agent.download(request, to: folder.file("body"), options: .init(isResumable: false))
            }
            #expect(error?.code == .status)
            #expect(error?.response?.bytes == Bytes(Array("none".utf8)))
            #expect(folder.contents(of: "body") == body)
            #expect(folder.names == ["body"])
        },
    ]
}

private func readOneChunk(of stream: ResponseStream) async throws -> [UInt8] {
    var chunks = stream.makeAsyncIterator()
    return Array(try await chunks.next() ?? [])
}
