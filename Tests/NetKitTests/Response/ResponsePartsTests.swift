import NetKit
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(2)))
struct ResponsePartsTests {
    private static let two = "--b\r\nContent-Type: image/jpeg\r\n\r\none\r\n--b\r\n\r\n\r\ntwo\r\n--b--\r\nepilogue"

    private let stub = StubTransport()
    private var agent: Agent { Agent(.init(baseURL: "http://stub"), transport: stub) }

    private func answer(_ steps: [StubReply.Step], type: String = "multipart/mixed; boundary=b", status: Int = 200) {
        stub.register("*", with: StubReply(status: status, headers: ["Content-Type": type], body: steps))
    }

    private func collect(_ parts: some AsyncSequence<ResponsePart, NetError>) async throws -> [ResponsePart] {
        var received: [ResponsePart] = []
        for try await part in parts {
            received.append(part)
        }
        return received
    }

    private func text(_ part: ResponsePart) -> String { String(decoding: Array(part.bytes), as: UTF8.self) }

    @Test func eachPartHasItsFieldsAndItsBytes() async throws {
        answer([.text(Self.two)])
        let parts = try await collect(try await agent.parts(Request<Bytes>("/")))
        #expect(parts.map(text) == ["one", "\r\ntwo"] && parts.map(\.index) == [0, 1])
        #expect(parts[0].headers["content-type"] == "image/jpeg" && parts[1].headers.isEmpty)
        let whole = try await agent.send(Request("/", decoding: Decoding<[ResponsePart]>.parts)).value
        #expect(whole.map(text) == ["one", "\r\ntwo"] && whole.map(\.index) == [0, 1])
    }

    @Test func chunkBoundariesDoNotChangeTheResult() async throws {
        let bytes = Array(Self.two.utf8)
        for cut in 0...bytes.count {
            answer([.bytes(Bytes(Array(bytes[..<cut]))), .bytes(Bytes(Array(bytes[cut...])))])
            let parts = try await collect(try await agent.parts(Request<Bytes>("/")))
            #expect(parts.map(text) == ["one", "\r\ntwo"])
        }
    }

    @Test func partIsDeliveredBeforeTheNextArrives() async throws {
        let gate = StubGate()
        answer(
            [.text("--b\r\n\r\none\r\n--b\r\n"), .wait(gate), .text("\r\ntwo\r\n--b--")],
            type: "multipart/x-mixed-replace; boundary=\"b\"")
        var received: [String] = []
        for try await part in try await agent.parts(Request<Bytes>("/")) {
            received.append(text(part))
            // The server sends the rest only after this.
            gate.open()
        }
        #expect(received == ["one", "two"])
    }

    @Test func mixedReplacePartsEndAtTheLastBoundary() async throws {
        let never = StubGate()
        answer(
            [.text("--b\r\n\r\none\r\n--b--"), .wait(never)], type: "Multipart/X-Mixed-Replace; boundary=b")
        #expect(try await collect(try await agent.parts(Request<Bytes>("/"))).map(text) == ["one"])
    }

    @Test func truncatedBodyIsAnErrorAfterItsCompleteParts() async throws {
        let whole = Array(Self.two.utf8)
        let end = Array("--b\r\nContent-Type: image/jpeg\r\n\r\none\r\n--b\r\n\r\n\r\ntwo\r\n--b--".utf8).count
        let first = "--b\r\nContent-Type: image/jpeg\r\n\r\none\r\n--b".utf8.count
        for length in 0..<end {
            answer([.bytes(Bytes(Array(whole[..<length])))])
            var received: [String] = []
            let error = try await failure {
                for try await part in try await agent.parts(Request<Bytes>("/")) {
                    received.append(text(part))
                }
            }
            #expect(error.code == .cutShort && error.offset == length)
            #expect(received == Array(["one", "\r\ntwo"].prefix(length < first ? 0 : length < end - 2 ? 1 : 2)))
            let stored = Response(
                status: 200, headers: ["Content-Type": "multipart/mixed; boundary=b"],
                bytes: Bytes(Array(whole[..<length])))
            #expect(throws: NetError.self) { try stored.decode(by: Decoding<[ResponsePart]>.parts) }
        }
    }

    @Test(arguments: ["--b\n\nx\n--b--", "--bx\r\n", "--b\r\nA 1\r\n\r\n", "--b--"])
    func malformedPartsAreReported(text: String) async throws {
        answer([.text(text)])
        let error = try await failure { try await collect(try await agent.parts(Request<Bytes>("/"))) }
        #expect(error.code == .badResponse && error.offset != nil)
    }

    @Test func hookIsCalledForEachPart() async throws {
        answer([.text("--b\r\nN: 0\r\n\r\na\r\n--b\r\nN: 1\r\n\r\nb\r\n--b\r\nN: 2\r\n\r\nc\r\n--b--")])
        let hookCalls = Lock<[String]>([])
        let parts = try await agent.parts(Request<Bytes>("/")) { head in
            hookCalls.withLock { $0.append("\(head.index)\(head.headers["n"] ?? "")") }
            return head.index == 1 ? .skip : .allow
        }
        #expect(try await collect(parts).map { "\($0.index)\(text($0))" } == ["0a", "2c"])
        #expect(hookCalls.withLock { $0 } == ["00", "11", "22"])
    }

    @Test func hookCanEndTheTransfer() async throws {
        let never = StubGate()
        answer([.text("--b\r\n\r\na\r\n--b\r\n\r\n"), .wait(never)])
        struct Enough: Error {}
        for throwing in [false, true] {
            var received: [String] = []
            let error = try await failure {
                let parts = try await agent.parts(Request<Bytes>("/")) { head in
                    if head.index == 1, throwing { throw Enough() }
                    return head.index == 1 ? .cancel : .allow
                }
                for try await part in parts {
                    received.append(text(part))
                }
            }
            #expect(error.code == .stoppedByCaller && received == ["a"])
            #expect(error.underlying is Enough == throwing)
        }
    }

    @Test func limitsAreEnforced() async throws {
        func code(_ change: (inout PartLimits) -> Void) async throws -> NetError.Code? {
            var limits = PartLimits()
            change(&limits)
            answer([.text(Self.two)])
            do {
                _ = try await collect(try await agent.parts(Request<Bytes>("/"), limits: limits))
                return nil
            } catch {
                return (error as? NetError)?.code
            }
        }
        #expect(try await code { $0.maxParts = 2 } == nil)
        #expect(try await code { $0.maxParts = 1 } == .tooLarge)
        #expect(try await code { $0.maxPartBytes = 5 } == nil)
        #expect(try await code { $0.maxPartBytes = 4 } == .tooLarge)
        #expect(try await code { $0.maxHeadBytes = 28 } == nil)
        #expect(try await code { $0.maxHeadBytes = 27 } == .headTooLarge)
    }

    @Test func onlyMixedReplaceAllowsThousandsOfParts() async throws {
        let many = String(repeating: "--b\r\n\r\n\r\n", count: 10_001) + "--b--"
        answer([.text(many)], type: "multipart/x-mixed-replace; boundary=b")
        #expect(try await collect(try await agent.parts(Request<Bytes>("/"))).count == 10_001)
        answer([.text(many)])
        let error = try await failure { try await collect(try await agent.parts(Request<Bytes>("/"))) }
        #expect(error.code == .tooLarge)
    }

    @Test func statusAndTypeAreCheckedBeforeTheBody() async throws {
        answer([.text("<html>")], type: "text/html", status: 404)
        let both = try await failure { try await agent.parts(Request<Bytes>("/")) }
        #expect(both.code == .status && (both.underlying as? NetError)?.code == .contentType)
        answer([.text("<html>")], type: "text/html")
        #expect(try await failure { try await agent.parts(Request<Bytes>("/")) }.code == .contentType)
        answer([.text("--b--")], type: "multipart/mixed")
        let error = try await failure { try await agent.parts(Request<Bytes>("/")) }
        #expect(error.code == .badResponse && error.response?.status == 200)
    }
}
