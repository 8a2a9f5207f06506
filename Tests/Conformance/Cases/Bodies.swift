import NetKit
import Testing

extension ConformanceCase {
    /// Framing, coding and ends of response bodies.
    static let bodies: [ConformanceCase] = [
        ConformanceCase("empty-body") { scene in
            let agent = scene.agent()
            for framing in [SceneReply.Framing.length, .chunked, .close] {
                try scene.play("/", SceneReply(framing: framing))
                #expect(try await agent.send(Request<Bytes>(scene.url("/"))).bytes.isEmpty)
                let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
                var chunks = stream.makeAsyncIterator()
                #expect(try await chunks.next() == nil)
                #expect(try await chunks.next() == nil)
            }
        },
        ConformanceCase("drip-read") { scene in
            let body = pattern(200)
            let agent = scene.agent()
            for framing in [SceneReply.Framing.length, .chunked, .close] {
                try scene.play("/", SceneReply(body: body, framing: framing, pieceBytes: 1))
                #expect(try await agent.send(Request<Bytes>(scene.url("/"))).bytes == Bytes(body))
                let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
                #expect(try await stream.collect(upTo: 200) == Bytes(body))
            }
        },
        ConformanceCase("big-body") { scene in
            let body = pattern(4 << 20)
            let agent = scene.agent()
            for framing in [SceneReply.Framing.length, .chunked] {
                try scene.play("/", SceneReply(body: body, framing: framing))
                let response = try await agent.send(Request<Bytes>(scene.url("/")))
                #expect(Array(response.bytes) == body)
                #expect(response.metrics.last?.decodedBytes == body.count)
                let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
                #expect(Array(try await stream.collect(upTo: body.count)) == body)
                #expect(stream.isCloseDelimited == false)
            }
        },
        ConformanceCase("close-delimited-is-marked") { scene in
            let agent = scene.agent()
            for framing in [SceneReply.Framing.length, .chunked, .close] {
                try scene.play("/", SceneReply(body: Array("body".utf8), framing: framing))
                let response = try await agent.send(Request<Bytes>(scene.url("/")))
                #expect(response.bytes == Bytes(Array("body".utf8)))
                #expect(response.isCloseDelimited == (framing == .close))
                let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
                _ = try await stream.collect(upTo: 4)
                #expect(stream.isCloseDelimited == (framing == .close))
            }
        },
        ConformanceCase("trailers") { scene in
            let trailers = [Headers.Field](["X-Sum": "1", "x-sum": "2"])
            try scene.play("/", SceneReply(body: pattern(50), framing: .chunked, trailers: trailers))
            let agent = scene.agent()
            let response = try await agent.send(Request<Bytes>(scene.url("/")))
            #expect(Array(response.trailers) == trailers)
            #expect(response.headers["X-Sum"] == nil)
            try scene.play(
                "/", SceneReply(body: pattern(50), framing: .chunked, trailers: trailers, hold: .inBody(after: 20)))
            let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
            #expect(stream.trailers.isEmpty)
            let reading = Task { try await stream.collect(upTo: 50) }
            try await scene.waitForHeld(1)
            #expect(stream.trailers.isEmpty)
            scene.release()
            #expect(try await reading.value == Bytes(pattern(50)))
            #expect(Array(stream.trailers) == trailers)
        },
        ConformanceCase("truncated-body-is-an-error") { scene in
            let agent = scene.agent()
            try scene.play("/", SceneReply(body: pattern(100), cutAfter: 40))
            let error = await thrown { () throws(NetError) in _ = try await agent.send(Request<Bytes>(scene.url("/")))
            }
            #expect(error?.code == .cutShort)
            #expect(error?.response?.status == 200)
            #expect(error?.response?.bytes == Bytes(pattern(40)))
            let stream = try await agent.stream(Request<Bytes>(scene.url("/")))
            var received: [UInt8] = []
            let streamed = await thrown { () throws(NetError) in
                for try await chunk in stream {
                    received += Array(chunk)
                }
            }
            #expect(streamed?.code == .cutShort)
            #expect(received == pattern(40))
        },
        ConformanceCase("truncated-body-is-not-saved") { scene in
            let folder = try TemporaryFolder()
            try scene.play("/", SceneReply(body: pattern(100), cutAfter: 40))
            let error = await thrown { () throws(NetError) in
                _ = try await scene.agent().save(Request<Bytes>(scene.url("/")), to: folder.file("body"))
            }
            #expect(error?.code == .cutShort)
            #expect(folder.names.isEmpty)
        },
        ConformanceCase("body-limit") { scene in
            let agent = scene.agent()
            for framing in [SceneReply.Framing.length, .chunked, .close] {
                try scene.play("/", SceneReply(body: pattern(1000), framing: framing, pieceBytes: 100))
                var request = Request<Bytes>(scene.url("/"))
                request.limits = Limits()
                request.limits?.maxBodyBytes = 1000
                #expect(try await agent.send(request).bytes.count == 1000)
                request.limits?.maxBodyBytes = 999
                let error = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .bodyTooLarge)
                let streamed = await thrown { [request] () throws(NetError) in
                    _ = try await agent.stream(request).collect(upTo: .max)
                }
                #expect(streamed?.code == .bodyTooLarge)
            }
        },
        ConformanceCase("gzip") { scene in
            // "hi" as a gzip file with a stored block.
            let packed: [UInt8] = [
                0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 0, 0xFD, 0xFF, 0x68, 0x69, 0xAC, 0x2A, 0x93, 0xD8, 2, 0, 0,
                0,
            ]
            try scene.play("/", .wire(.coded(packed, coding: "gzip")))
            let agent = scene.agent()
            var request = Request<Bytes>(scene.url("/"))
            #expect(try await agent.send(request).bytes == Bytes(Array("hi".utf8)))
            #expect(try await agent.stream(request).collect(upTo: 9) == Bytes(Array("hi".utf8)))
            request.acceptsCodings = false
            #expect(try await agent.send(request).bytes == Bytes(packed))
        },
        ConformanceCase("a-head-comes-before-its-body") { scene in
            try scene.play("/", SceneReply(body: pattern(10), hold: .inBody(after: 4)))
            let stream = try await scene.agent().stream(Request<Bytes>(scene.url("/")))
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
            try await scene.waitForHeld(1)
            scene.release()
            #expect(try await rest.value == pattern(6, from: 4))
        },
        ConformanceCase("under-read") { scene in
            try scene.play("/big", SceneReply(body: pattern(4 << 20)))
            try scene.play("/small", .text("small"))
            let agent = scene.agent()
            let first = try await readOneChunk(of: agent.stream(Request<Bytes>(scene.url("/big"))))
            #expect(first.count > 0 && first == pattern(first.count))
            #expect(try await agent.send(Request<String>(scene.url("/small"))).value == "small")
        },
        ConformanceCase("a-stream-is-read-once") { scene in
            try scene.play("/", .text("body"))
            let stream = try await scene.agent().stream(Request<Bytes>(scene.url("/")))
            _ = try await stream.collect(upTo: 4)
            let again = await thrown { () throws(NetError) in _ = try await stream.collect(upTo: 4) }
            #expect(again?.code == .usage)
        },
        ConformanceCase("a-body-is-saved-whole") { scene in
            let folder = try TemporaryFolder()
            let body = pattern(200_000)
            try scene.play("/", SceneReply(body: body), SceneReply(status: 404, body: Array("none".utf8)))
            let agent = scene.agent()
            let request = Request<Bytes>(scene.url("/"))
            let saved = try await agent.save(request, to: folder.file("body"))
            #expect(saved.value.path == folder.file("body"))
            #expect(saved.value.byteCount == body.count)
            #expect(saved.bytes.isEmpty)
            let error = await thrown { () throws(NetError) in
                _ = try await agent.save(request, to: folder.file("body"))
            }
            #expect(error?.code == .unacceptableStatus)
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
