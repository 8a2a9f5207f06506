import NetKit
import Testing

extension ConformanceCase {
    private static var shape: JSONShape { ["id": .integer, "tags": [.string]] }
    private static let right = #"{"id": 1, "tags": ["a", "b"], "more": {}}"#

    private static func reply(_ text: String, status: Int = 200, type: String? = "application/json") -> SceneReply {
        SceneReply(
            status: status, fields: type.map { [.init(name: "Content-Type", value: $0)] } ?? [], body: Array(text.utf8))
    }

    /// Bodies that must be JSON of an expected shape.
    static let expectations: [ConformanceCase] = [
        ConformanceCase("an-expected-body-comes-whole") { scene in
            let folder = try TemporaryFolder()
            let agent = scene.agent()
            let request = Request<Bytes>(scene.url("/")).expecting(shape)
            for pieceBytes in [0, 1, 7] {
                var reply = reply(right)
                reply.pieceBytes = pieceBytes
                try scene.play("/", reply)
                #expect(Array(try await agent.send(request).bytes) == Array(right.utf8))
                #expect(Array(try await agent.stream(request).collect(upTo: 99)) == Array(right.utf8))
                _ = try await agent.save(request, to: folder.file("body"))
                #expect(folder.contents(of: "body") == Array(right.utf8))
            }
        },
        ConformanceCase("a-mismatch-ends-the-transfer-at-once") { scene in
            let folder = try TemporaryFolder()
            let agent = scene.agent()
            let request = Request<Bytes>(scene.url("/")).expecting(shape)
            // The server holds the rest of the body, so the request must fail at the wrong byte.
            let text = #"{"id": 1, "tags": ["a", 2,"#
            for kind in 0..<3 {
                var reply = reply(text + String(repeating: " ", count: 100))
                reply.hold = .inBody(after: text.utf8.count)
                try scene.play("/", reply)
                let error = await thrown { () throws(NetError) in
                    switch kind {
                    case 0: _ = try await agent.send(request)
                    case 1: _ = try await agent.stream(request).collect(upTo: .max)
                    default: _ = try await agent.save(request, to: folder.file("body"))
                    }
                }
                #expect(error?.code == .shapeMismatch)
                #expect(error?.offset == 24)
                #expect(
                    error?.jsonFaults == [
                        JSONFault(
                            pointer: "/tags/1", wanted: "string", found: "number", offset: 24, line: 1, column: 25)
                    ])
                #expect(error?.response?.status == 200)
                #expect(error?.response?.headers["content-type"] == "application/json")
                if kind == 0 {
                    let received = error?.response.map { Array($0.bytes) } ?? []
                    #expect(received.count >= 25 && Array(text.utf8).starts(with: received))
                }
                #expect(folder.names.isEmpty)
            }
            scene.release()
        },
        ConformanceCase("what-is-no-json-ends-the-transfer") { scene in
            let agent = scene.agent()
            for (text, offset) in [(#"{"id": 01}"#, 8), ("{\"id\": 1", 8), ("", 0), (" \n", 2), ("<html>", 0)] {
                try scene.play("/", reply(text))
                let request = Request<JSONValue?>(scene.url("/")).expecting(shape)
                let error = await thrown { () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .badJSON, "\(text)")
                #expect(error?.offset == offset, "\(text)")
                #expect(error?.response?.status == 200)
                let streamed = await thrown { () throws(NetError) in
                    _ = try await agent.stream(request).collect(upTo: .max)
                }
                #expect(streamed?.code == .badJSON)
            }
        },
        ConformanceCase("a-truncated-body-is-truncated-whatever-was-expected") { scene in
            var reply = reply(right)
            reply.cutAfter = 9
            try scene.play("/", reply)
            let request = Request<Bytes>(scene.url("/")).expecting(shape)
            let error = await thrown { () throws(NetError) in _ = try await scene.agent().send(request) }
            #expect(error?.code == .cutShort)
            #expect(error?.response?.bytes.count == 9)
        },
        ConformanceCase("a-status-comes-before-a-shape") { scene in
            let agent = scene.agent()
            for type in ["application/json", "text/html"] {
                try scene.play("/", reply("[\"gone\"]", status: 404, type: type))
                let request = Request<Bytes>(scene.url("/")).expecting(shape)
                let error = await thrown { () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .unacceptableStatus)
                #expect(error.map { Array($0.response?.bytes ?? []) } == Array("[\"gone\"]".utf8))
                let stream = try await agent.stream(request)
                #expect(stream.status == 404)
                #expect(try await stream.collect(upTo: 99).count == 8)
            }
        },
        ConformanceCase("a-type-comes-before-a-shape") { scene in
            let folder = try TemporaryFolder()
            let agent = scene.agent()
            var request = Request<Bytes>(scene.url("/")).expecting(shape)
            for text in ["<html>", ""] {
                try scene.play("/", reply(text, type: "text/html; charset=x"))
                let error = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .unacceptableType)
                #expect(error.map { Array($0.response?.bytes ?? []) } == Array(text.utf8))
                let saved = await thrown { [request] () throws(NetError) in
                    _ = try await agent.save(request, to: folder.file("body"))
                }
                #expect(saved?.code == .unacceptableType)
                #expect(folder.names.isEmpty)
            }
            try scene.play("/", reply(right, type: nil))
            #expect(try await agent.send(request).bytes.count == right.utf8.count)
            try scene.play("/", reply("<html>", type: nil))
            let bare = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(bare?.code == .badJSON)
            try scene.play("/", reply("<no>", type: "text/x-mine"))
            request.acceptedTypes = ["text/*"]
            let own = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(own?.code == .badJSON)
        },
        ConformanceCase("another-charset-has-no-effect-on-utf-8-and-explains-other-bytes") { scene in
            let agent = scene.agent()
            let request = Request<Bytes>(scene.url("/")).expecting(shape)
            let type = "application/json; charset=ISO-8859-1"
            try scene.play("/", reply("{\"id\": 1, \"tags\": [], \"é\": 1}", type: type))
            #expect(try await agent.send(request).status == 200)
            var latin = reply("", type: type)
            latin.body = [0x7B, 0x22, 0xE9, 0x22, 0x3A, 0x31, 0x7D]
            try scene.play("/", latin)
            let error = await thrown { () throws(NetError) in _ = try await agent.send(request) }
            #expect(error?.code == .badCharset)
            #expect(error?.message.contains("ISO-8859-1") == true)
            #expect(error?.response?.status == 200)
        },
        ConformanceCase("leniency-and-several-mismatches") { scene in
            let agent = scene.agent()
            let text = #"{"id": null, "tags": null}"#
            try scene.play("/", reply(text))
            let request = Request<Bytes>(scene.url("/"))
            #expect(try await agent.send(request.expecting(shape, isLenient: true)).bytes.count == text.utf8.count)
            let error = await thrown { () throws(NetError) in
                _ = try await agent.send(request.expecting(shape, maxMismatches: 5))
            }
            #expect(error?.code == .shapeMismatch)
            #expect(error?.jsonFaults.map(\.pointer) == ["/id", "/tags"])
        },
        ConformanceCase("a-wrong-shape-is-never-sent") { scene in
            let request = Request<Bytes>(scene.url("/")).expecting(["a": .integer(min: 2, max: 1)])
            let error = await thrown { () throws(NetError) in _ = try await scene.agent().send(request) }
            #expect(error?.code == .badShape)
        },
        ConformanceCase("the-last-hop-has-to-be-as-expected") { scene in
            var first = reply("[\"moved\"]", status: 302)
            first.fields.append(.init(name: "Location", value: "/there"))
            try scene.play("/", first)
            try scene.play("/there", reply(right))
            let request = Request<Bytes>(scene.url("/")).expecting(shape)
            #expect(try await scene.agent().send(request).bytes.count == right.utf8.count)
        },
    ]
}
