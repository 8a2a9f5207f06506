import NetKit
import Testing

extension ConformanceCase {
    private static var shape: JSONShape { ["id": .integer, "tags": [.string]] }
    private static let right = #"{"id": 1, "tags": ["a", "b"], "more": {}}"#

    private static func reply(_ text: String, status: Int = 200, type: String? = "application/json") -> ServerReply {
        ServerReply(
            status: status, fields: type.map { [.init(name: "Content-Type", value: $0)] } ?? [], body: Array(text.utf8))
    }

    /// Bodies that must be JSON of an expected shape.
    static let expectations: [ConformanceCase] = [
        ConformanceCase("an-expected-body-comes-whole") { fixture in
            let folder = try TemporaryFolder()
            let agent = fixture.agent()
            let request = Request<Bytes>(fixture.url("/")).expecting(shape)
            for pieceBytes in [0, 1, 7] {
                var reply = reply(right)
                reply.pieceBytes = pieceBytes
                try fixture.play("/", reply)
                #expect(Array(try await agent.send(request).bytes) == Array(right.utf8))
                #expect(Array(try await agent.stream(request).collect(upTo: 99)) == Array(right.utf8))
                _ = try await agent.download(request, to: folder.file("body"), options: .init(isResumable: false))
                #expect(folder.contents(of: "body") == Array(right.utf8))
            }
        },
        ConformanceCase("a-mismatch-ends-the-transfer-at-once") { fixture in
            let folder = try TemporaryFolder()
            let agent = fixture.agent()
            let request = Request<Bytes>(fixture.url("/")).expecting(shape)
            // The server holds the rest of the body, so the request must fail at the wrong byte.
            let text = #"{"id": 1, "tags": ["a", 2,"#
            for kind in 0..<3 {
                var reply = reply(text + String(repeating: " ", count: 100))
                reply.hold = .inBody(after: text.utf8.count)
                try fixture.play("/", reply)
                let error = await thrown { () throws(NetError) in
                    switch kind {
                    case 0: _ = try await agent.send(request)
                    case 1: _ = try await agent.stream(request).collect(upTo: .max)
                    default:
                        _ = try await agent.download(
                            request, to: folder.file("body"), options: .init(isResumable: false))
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
            fixture.release()
        },
        ConformanceCase("what-is-no-json-ends-the-transfer") { fixture in
            let agent = fixture.agent()
            for (text, offset) in [(#"{"id": 01}"#, 8), ("{\"id\": 1", 8), ("", 0), (" \n", 2), ("<html>", 0)] {
                try fixture.play("/", reply(text))
                let request = Request<JSONValue?>(fixture.url("/")).expecting(shape)
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
        ConformanceCase("a-truncated-body-is-truncated-whatever-was-expected") { fixture in
            var reply = reply(right)
            reply.cutAfter = 9
            try fixture.play("/", reply)
            let request = Request<Bytes>(fixture.url("/")).expecting(shape)
            let error = await thrown { () throws(NetError) in _ = try await fixture.agent().send(request) }
            #expect(error?.code == .cutShort)
            #expect(error?.response?.bytes.count == 9)
        },
        ConformanceCase("a-status-comes-before-a-shape") { fixture in
            let agent = fixture.agent()
            for type in ["application/json", "text/html"] {
                try fixture.play("/", reply("[\"gone\"]", status: 404, type: type))
                let request = Request<Bytes>(fixture.url("/")).expecting(shape)
                let error = await thrown { () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .status)
                #expect(error.map { Array($0.response?.bytes ?? []) } == Array("[\"gone\"]".utf8))
                let refused = await thrown { () throws(NetError) in _ = try await agent.stream(request) }
                #expect(refused?.code == .status && refused?.response?.status == 404)
            }
        },
        ConformanceCase("a-type-comes-before-a-shape") { fixture in
            let folder = try TemporaryFolder()
            let agent = fixture.agent()
            var request = Request<Bytes>(fixture.url("/")).expecting(shape)
            for text in ["<html>", ""] {
                try fixture.play("/", reply(text, type: "text/html; charset=x"))
                let error = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
                #expect(error?.code == .contentType)
                #expect(error.map { Array($0.response?.bytes ?? []) } == Array(text.utf8))
                let saved = await thrown { [request] () throws(NetError) in
                    _ = try await agent.download(request, to: folder.file("body"), options: .init(isResumable: false))
                }
                #expect(saved?.code == .contentType)
                #expect(folder.names.isEmpty)
            }
            try fixture.play("/", reply(right, type: nil))
            #expect(try await agent.send(request).bytes.count == right.utf8.count)
            try fixture.play("/", reply("<html>", type: nil))
            let bare = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(bare?.code == .badJSON)
            try fixture.play("/", reply("<no>", type: "text/x-mine"))
            request.acceptedTypes = ["text/*"]
            let own = await thrown { [request] () throws(NetError) in _ = try await agent.send(request) }
            #expect(own?.code == .badJSON)
        },
        ConformanceCase("another-charset-has-no-effect-on-utf-8-and-explains-other-bytes") { fixture in
            let agent = fixture.agent()
            let request = Request<Bytes>(fixture.url("/")).expecting(shape)
            let type = "application/json; charset=ISO-8859-1"
            try fixture.play("/", reply("{\"id\": 1, \"tags\": [], \"é\": 1}", type: type))
            #expect(try await agent.send(request).status == 200)
            var latin = reply("", type: type)
            latin.body = [0x7B, 0x22, 0xE9, 0x22, 0x3A, 0x31, 0x7D]
            try fixture.play("/", latin)
            let error = await thrown { () throws(NetError) in _ = try await agent.send(request) }
            #expect(error?.code == .badCharset)
            #expect(error?.message.contains("ISO-8859-1") == true)
            #expect(error?.response?.status == 200)
        },
        ConformanceCase("leniency-and-several-mismatches") { fixture in
            let agent = fixture.agent()
            let text = #"{"id": null, "tags": null}"#
            try fixture.play("/", reply(text))
            let request = Request<Bytes>(fixture.url("/"))
            #expect(try await agent.send(request.expecting(shape, isLenient: true)).bytes.count == text.utf8.count)
            let error = await thrown { () throws(NetError) in
                _ = try await agent.send(request.expecting(shape, maxMismatches: 5))
            }
            #expect(error?.code == .shapeMismatch)
            #expect(error?.jsonFaults.map(\.pointer) == ["/id", "/tags"])
        },
        ConformanceCase("a-wrong-shape-is-never-sent") { fixture in
            let request = Request<Bytes>(fixture.url("/")).expecting(["a": .integer(min: 2, max: 1)])
            let error = await thrown { () throws(NetError) in _ = try await fixture.agent().send(request) }
            #expect(error?.code == .badShape)
        },
        ConformanceCase("the-last-hop-has-to-be-as-expected") { fixture in
            var first = reply("[\"moved\"]", status: 302)
            first.fields.append(.init(name: "Location", value: "/there"))
            try fixture.play("/", first)
            try fixture.play("/there", reply(right))
            let request = Request<Bytes>(fixture.url("/")).expecting(shape)
            #expect(try await fixture.agent().send(request).bytes.count == right.utf8.count)
        },
    ]
}
