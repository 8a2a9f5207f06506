import FoundationEssentials
import NetKit
import Testing

struct DecodingTests {
    struct City: Codable, Sendable, Equatable {
        struct Place: Codable, Equatable {
            var x: Double
            var y: Double
        }

        var name: String
        var place: Place?
        var twins: [City]
    }

    private struct TwoLines: Error, CustomStringConvertible {
        let description = "first\nsecond\r\nthird"
    }

    @Test func jsonBecomesNestedValues() async throws {
        let agent = try agent(answering: .json(#"[{"name":"Łódź","place":{"x":1.5,"y":-2},"twins":[]}]"#))
        let cities = try await agent.send(Request<[City]>("")).value
        #expect(cities == [City(name: "Łódź", place: .init(x: 1.5, y: -2), twins: [])])
    }

    @Test func aLargeJSONBodyBecomesAValue() async throws {
        let numbers = Array(0..<20_000)
        let agent = try agent(answering: .json("[\(numbers.map(String.init).joined(separator: ", "))]"))
        #expect(try await agent.send(Request<[Int]>("")).value == numbers)
    }

    @Test(arguments: [10, 100_000])
    func undecodableBodyIsReportedWithItsResponse(padding: Int) async throws {
        let text = #"{"name": 7, "twins": []}"# + String(repeating: " ", count: padding)
        let agent = try agent(answering: .json(text))
        let error = try #require(await failure { try await agent.send(Request<City>("")) })
        #expect(error.code == .decoding)
        #expect(error.underlying is DecodingError)
        #expect(error.response?.status == 200)
        #expect(error.response?.headers["content-type"] == "application/json")
        #expect(error.response?.bytes == Bytes(Array(text.utf8)))
        #expect(!error.isRetryable)
        #expect(!error.description.contains { $0.isNewline })
    }

    @Test(arguments: ["", "{", "[1,]", "nul", "{\"name\":\"x\"} trailing", "\u{FEFF}"])
    func brokenJSONIsUndecodable(text: String) async throws {
        let agent = try agent(answering: .json(text))
        let error = try #require(await failure { try await agent.send(Request<City>("")) })
        #expect(error.code == .decoding)
        #expect(error.response?.bytes == Bytes(Array(text.utf8)))
    }

    @Test func decoderIsSharedByConcurrentResponsesAndNotChanged() async throws {
        struct Person: Decodable, Sendable {
            var firstName: String
            var weight: JSONValue
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let decoding = Decoding<Person>.json(decoder)
        try await withThrowingTaskGroup(of: Person.self) { group in
            for index in 1...200 {
                group.addTask {
                    let text = #"{"first_name":"Ada","weight":\#(index).10000000000000000000001}"#
                    return try Response<Bytes>(status: 200, bytes: Bytes(Array(text.utf8))).decode(by: decoding)
                }
            }
            var weights: Set<String> = []
            for try await person in group {
                #expect(person.firstName == "Ada")
                weights.insert(person.weight.description)
            }
            #expect(weights == Set((1...200).map { "\($0).10000000000000000000001" }))
        }
        #expect(decoder.userInfo.isEmpty)
    }

    @Test func subclassOfTheDecoderIsUsedItself() throws {
        final class Doubling: JSONDecoder, @unchecked Sendable {
            override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
                try super.decode(type, from: Data("[".utf8) + data + Data(",".utf8) + data + Data("]".utf8))
            }
        }
        let response = Response<Bytes>(status: 200, bytes: [UInt8(ascii: "7")])
        #expect(try response.decode(by: Decoding<[Int]>.json(Doubling())) == [7, 7])
    }

    @Test func givenDecoderIsUsed() async throws {
        let agent = try agent(answering: .json(#"{"first_name":"Ada"}"#))
        struct Person: Decodable, Sendable {
            var firstName: String
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try await agent.send(Request<Person>("", decoding: .json(decoder))).value.firstName == "Ada")
    }

    @Test func voidDecodingIgnoresTheBody() async throws {
        let agent = try agent(answering: .bytes([0xFF, 0xFE], contentType: "text/plain; charset=nonsense"))
        let response: Response<Void> = try await agent.send(Request<Void>(""))
        #expect(response.bytes == [0xFF, 0xFE])
    }

    @Test func customDecodingReceivesTheWholeResponse() async throws {
        let agent = try agent(answering: Reply(status: 201, headers: ["X-Count: 7"], patternLength: 3))
        let decoding = Decoding<[String]> { response in
            ["\(response.status)", response.headers["x-count"] ?? "", String(decoding: response.bytes, as: UTF8.self)]
        }
        #expect(try await agent.send(Request("", decoding: decoding)).value == ["201", "7", "abc"])
    }

    @Test func errorThrownByADecodingIsTheUnderlyingError() async throws {
        let agent = try agent(answering: .text("x"))
        let error = try #require(
            await failure { try await agent.send(Request("", decoding: Decoding<Int> { _ in throw TwoLines() })) })
        #expect(error.code == .decoding)
        #expect(error.underlying is TwoLines)
        #expect(!error.description.contains { $0.isNewline })
        #expect(error.message.contains("third"))
    }

    @Test func netErrorThrownByADecodingIsPreserved() async throws {
        let agent = try agent(answering: .text("body"))
        let decoding = Decoding<Int> { _ in
            throw NetError(.tooLarge, "too many", nativeCode: 9, offset: 3, underlying: TwoLines())
        }
        let error = try #require(await failure { try await agent.send(Request("", decoding: decoding)) })
        #expect(error.code == .tooLarge)
        #expect(error.message == "too many")
        #expect(error.nativeCode == 9)
        #expect(error.offset == 3)
        #expect(error.underlying is TwoLines)
        #expect(error.response?.bytes == Bytes(Array("body".utf8)))
    }

    @Test func unacceptedStatusIsReportedBeforeDecoding() async throws {
        let agent = try agent(answering: Reply(status: 404, body: Array("not JSON".utf8)))
        let error = try #require(await failure { try await agent.send(Request<City>("")) })
        #expect(error.code == .status)
        #expect(error.nativeCode == 404)
        #expect(error.response?.status == 404)
        #expect(error.response?.bytes == Bytes(Array("not JSON".utf8)))
        #expect(!error.isRetryable)
    }

    @Test(arguments: [200, 299, 300, 404, 500, 999] as [UInt16])
    func bytesAcceptEveryStatusAndOtherTypes200To299(status: UInt16) async throws {
        let agent = try agent(answering: Reply(status: status))
        let sent = Int(status)
        #expect(try await agent.send(Request<Bytes>("")).status == sent)
        let expected: Ending = (200..<300).contains(sent) ? .answered : .failed(.status)
        #expect(await ending(of: Request<Void>(""), from: agent) == expected)
    }

    @Test func acceptedStatusesAreSetByTheRequest() async throws {
        let agent = try agent(answering: Reply(status: 404, body: Array("[1]".utf8)))
        var request = Request<[Int]>("")
        request.acceptedStatuses = 404..<405
        #expect(try await agent.send(request).value == [1])
        request.acceptedStatuses = .any
        #expect(try await agent.send(request).value == [1])
        request.acceptedStatuses = 200..<404
        #expect(await ending(of: request, from: agent) == .failed(.status))
    }

    private func failure(_ body: () async throws -> some Any) async -> NetError? {
        await #expect(throws: NetError.self) { _ = try await body() }
    }

    /// Returns an agent whose base URL is a server with one response. The agent keeps the server alive.
    private func agent(answering reply: Reply) throws -> Agent {
        let server = try LoopbackServer()
        server.script("*", reply)
        return Agent(.init(baseURL: server.url("/")), transport: Keeping(server))
    }

    private struct Keeping: Transport {
        private let server: LoopbackServer
        private let agent = Agent()

        init(_ server: LoopbackServer) {
            self.server = server
        }

        func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
            try await agent.send(request)
        }

        func shutdown() async {
            await agent.shutdown()
        }
    }
}
