import NetKit
import NetKitTesting
import Testing

/// Values of streamed lines and events, decoded from JSON.
struct JSONLinesTests {
    private struct Delta: Codable, Sendable, Equatable { var firstName: String }

    private func agent(_ chunks: [String]) -> Agent {
        let stub = StubTransport { _ in
            StubReply(headers: ["Content-Type": "application/x-ndjson"], body: chunks.map { .text($0) })
        }
        var configuration = Agent.Configuration(baseURL: "http://h")
        configuration.json.keys = .snakeCase
        return Agent(configuration, transport: stub)
    }

    private func names(_ chunks: [String]) async throws -> [String] {
        var names: [String] = []
        for try await delta in try await agent(chunks).stream("c").lines(as: Delta.self) {
            names.append(delta.firstName)
        }
        return names
    }

    @Test(arguments: [
        ["{\"first_name\":\"a\"}\n{\"first_name\":\"b\"}\n"],
        ["{\"first_name\":", "\"a\"}\r", "\n{\"first_name\":\"b\"}"],
        ["\n\r\n {\"first_name\":\"a\"} \n\t \n\n{\"first_name\":\"b\"}\n\n"],
    ])
    func valuesHaveTheJSONSettingsOfTheAgentAndEmptyLinesAreSkipped(chunks: [String]) async throws {
        #expect(try await names(chunks) == ["a", "b"])
    }

    @Test func emptyBodyHasNoValues() async throws {
        #expect(try await names([]).isEmpty)
        #expect(try await names(["\n", " "]).isEmpty)
    }

    @Test(arguments: [
        (["{\"first_name\":\"a\"}\n\n{\"first_name\":\n"], 3), (["{\"first_name\":\"a\"}\n{\"name\":\"b\"}"], 2),
        (["{\"first_", "name\":\"a\"}\n", "\n", "\n", "[]"], 4), (["nothing"], 1),
    ])
    func errorNamesItsLine(chunks: [String], line: Int) async throws {
        let error = await #expect(throws: NetError.self) { try await names(chunks) }
        #expect(error?.code == .decoding && error?.message.hasPrefix("line \(line): ") == true)
        let text = chunks.joined().split(separator: "\n").last.map(String.init)
        #expect(error?.response?.text == text)
    }

    @Test func longLineIsRefusedWithItsNumber() async throws {
        let stream = try await agent(["{\"first_name\":\"a\"}\n", String(repeating: "x", count: 40)]).stream("c")
        let error = await #expect(throws: NetError.self) {
            for try await delta in stream.lines(as: Delta.self, upTo: 30) { #expect(delta.firstName == "a") }
        }
        #expect(error?.code == .tooLarge && error?.message.hasPrefix("line 2: ") == true)
    }

    @Test func dataOfAnEventIsDecoded() async throws {
        let agent = agent(["event: delta\ndata: {\"first_", "name\":\"a\"}\nid: 7\n\ndata: broken\n\n"])
        var events: [ServerSentEvent] = []
        for try await event in try await agent.stream("c").events {
            events.append(event)
        }
        #expect(events.map(\.name) == ["delta", "message"] && events.map(\.id) == ["7", "7"])
        #expect(try events[0].decode(Delta.self) == Delta(firstName: "a"))
        let inferred: Delta = try events[0].decode()
        #expect(inferred.firstName == "a")
        let error = #expect(throws: NetError.self) { try events[1].decode(Delta.self) }
        #expect(error?.code == .decoding && error?.message.hasPrefix("the data of the event 'message' ") == true)
    }

    @Test func reconnectedEventsHaveTheJSONSettingsOfTheRequest() async throws {
        let stub = StubTransport()
        let event = StubReply(
            headers: ["Content-Type": "text/event-stream"], body: [.text("data: {\"first_name\":\"a\"}\n\n")])
        stub.register("*", with: event, event, .status(204))
        var request = Request<Void>("http://h/c")
        request.json = JSONCoding()
        request.json?.keys = .snakeCase
        var names: [String] = []
        for try await event in Agent(transport: stub).serverSentEvents(request, reconnectDelay: .zero) {
            names.append(try event.decode(Delta.self).firstName)
        }
        #expect(names == ["a", "a"])
    }
}
