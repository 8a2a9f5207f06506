import FoundationEssentials
import NetKit
import Testing

/// One JSON setting for an agent, a service or a request, in both directions over a socket.
struct JSONCodingTests {
    private struct Visit: Codable, Sendable, Equatable {
        var cityName = "Oslo"
        var startedAt = Date(timeIntervalSince1970: 1_700_000_000)
        var byName = ["isOpen": 1]
    }

    private func sent(
        _ body: Body, by configuration: Agent.Configuration, _ change: (inout Request<Visit>) -> Void = { _ in },
        reply: String
    )
        async throws -> (body: String, value: Visit)
    {
        let (server, agent) = (try LoopbackServer(), Agent(configuration))
        server.script("/v", .json(reply))
        var request = Request<Visit>(server.url("/v"), method: .post, body: body)
        change(&request)
        let value = try await agent.send(request).value
        await agent.shutdown()
        return (String(decoding: server.received(0).body, as: UTF8.self), value)
    }

    private let plain = #"{"cityName":"Oslo","startedAt":"2023-11-14T22:13:20Z","byName":{"isOpen":1}}"#
    private let snake = #"{"city_name":"Oslo","started_at":1700000000,"by_name":{"isOpen":1}}"#

    private var snakeCase: JSONCoding {
        var json = JSONCoding()
        json.keys = .snakeCase
        json.dates = .secondsSince1970
        return json
    }

    @Test func datesAreISO8601ByDefault() async throws {
        let (body, value) = try await sent(.json(Visit()), by: .init(), reply: plain)
        #expect(body == plain && value == Visit())
    }

    @Test func settingsOfTheAgentApplyInBothDirections() async throws {
        var configuration = Agent.Configuration()
        configuration.json = snakeCase
        let (body, value) = try await sent(.json(Visit()), by: configuration, reply: snake)
        #expect(body == snake && value == Visit())
    }

    @Test func requestOverridesServiceAndServiceOverridesAgent() async throws {
        var configuration = Agent.Configuration()
        configuration.json.dates = .millisecondsSince1970
        var service = Service.Configuration()
        service.json = snakeCase
        let cities = Service("cities", service)
        let ofService = try await sent(.json(Visit()), by: configuration, { $0.service = cities }, reply: snake)
        #expect(ofService.body == snake && ofService.value == Visit())
        let ofRequest = try await sent(
            .json(Visit()), by: configuration,
            {
                $0.service = cities
                $0.json = JSONCoding()
            }, reply: plain)
        #expect(ofRequest.body == plain && ofRequest.value == Visit())
    }

    @Test func parametersThatAreSentAsJSONFollowTheSettings() async throws {
        var configuration = Agent.Configuration()
        configuration.json = snakeCase
        let (server, agent) = (try LoopbackServer(), Agent(configuration))
        server.script("/v", .json(snake))
        let when = Date(timeIntervalSince1970: 1_700_000_000)
        var request = Request<Visit>(
            server.url("/v"), method: .post, parameters: ["startedAt": when, "visit": Visit(), "z": 1])
        request.parameterPlacement = .json
        _ = try await agent.send(request)
        #expect(
            String(decoding: server.received(0).body, as: UTF8.self)
                == #"{"startedAt":1700000000,"visit":\#(snake),"z":1}"#)
        await agent.shutdown()
    }

    @Test func styleOfTheCallerOverridesThatOfTheAgent() async throws {
        var configuration = Agent.Configuration()
        configuration.json.style = .sorted
        let sorted = #"{"byName":{"isOpen":1},"cityName":"Oslo","startedAt":"2023-11-14T22:13:20Z"}"#
        #expect(try await sent(.json(Visit()), by: configuration, reply: plain).body == sorted)
        #expect(try await sent(.json(Visit(), style: JSONStyle()), by: configuration, reply: plain).body == plain)
    }

    @Test func changedBytesOfABodyAreSentUnchanged() async throws {
        var configuration = Agent.Configuration()
        configuration.json = snakeCase
        var body = try Body.json(Visit())
        body.bytes = Bytes(Array("{}".utf8))
        #expect(try await sent(body, by: configuration, reply: snake).body == "{}")
    }

    private struct Problem: Decodable, Sendable, Equatable {
        var errorText: String
        var at: Date
    }

    @Test func bodyOfAnErrorIsDecodedWithTheSettings() async throws {
        var configuration = Agent.Configuration()
        configuration.json = snakeCase
        let (server, agent) = (try LoopbackServer(), Agent(configuration))
        var reply = Reply.json(#"{"error_text":"no","at":0}"#)
        reply.status = 422
        server.script("/v", reply)
        let problem = Problem(errorText: "no", at: Date(timeIntervalSince1970: 0))
        let requests = [Request<Visit>(server.url("/v")), Request<Visit>(server.url("/v"))]
        for (index, request) in requests.enumerated() {
            var request = request
            if index == 1 {
                request.json = snakeCase
            }
            let error = try await #require(throws: NetError.self) { try await agent.send(request) }
            #expect(error.status == 422)
            #expect(error.decodedBody(as: Problem.self) == problem)
            #expect(error.decodedBody(as: String.self) == #"{"error_text":"no","at":0}"#)
        }
        await agent.shutdown()
    }

    @Test func errorWithoutAResponseHasNoStatus() {
        #expect(NetError(.refused, "refused").status == nil)
        #expect(NetError(.notCached, "none", response: Response(status: 0)).status == nil)
    }

    @Test(arguments: [
        ("2023-11-14T22:13:20Z", 1_700_000_000.0), ("2023-11-14T22:13:20.25Z", 1_700_000_000.25),
        ("2023-11-14T22:13:20.123456789Z", 1_700_000_000.123456789), ("2023-11-14T23:13:20+01:00", 1_700_000_000),
        ("2023-11-14T17:43:20-0430", 1_700_000_000), ("2023-11-14t22:13:20z", 1_700_000_000),
        ("2023-11-14 22:13:20Z", 1_700_000_000), ("2023-11-14T22:13Z", 1_699_999_980), ("1970-01-01", 0),
        ("1969-12-31T23:59:59.5Z", -0.5), ("2024-02-29T00:00:00Z", 1_709_164_800),
        ("0001-01-01T00:00:00Z", -62_135_596_800),
        ("2016-12-31T23:59:60Z", 1_483_228_800),
    ])
    func datesAreReadWithAndWithoutFractionalSeconds(text: String, seconds: Double) throws {
        let response = Response<Bytes>(status: 200, bytes: Bytes(Array("\"\(text)\"".utf8)))
        let date = try response.decode(by: Decoding<Date>.json)
        #expect(abs(date.timeIntervalSince1970 - seconds) < 0.000_01)
    }

    @Test(arguments: [
        "2023-13-01T00:00:00Z", "2023-02-29T00:00:00Z", "2023-11-14T24:00:00Z", "2023-11-14T22:13:20", "now", "",
        "2023-11-14T22:13:20.Z", "2023-11-14T22:13:20Zjunk", "23-11-14T22:13:20Z", "2023-11-14T22:13:20+25:00",
    ])
    func textThatIsNoDateIsAnErrorThatShowsIt(text: String) throws {
        let response = Response<Bytes>(status: 200, bytes: Bytes(Array("[\"\(text)\"]".utf8)))
        let error = #expect(throws: NetError.self) { try response.decode(by: Decoding<[Date]>.json) }
        #expect(error?.code == .decoding && error?.message.contains("ISO 8601") == true)
    }

    @Test func customFormsOfDatesAndNamesAreWritten() async throws {
        var configuration = Agent.Configuration()
        configuration.json.dates = .custom { .string("d\(Int($0.timeIntervalSince1970))") }
        configuration.json.keys = .custom { $0.uppercased() }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        configuration.json.decoder = decoder
        let (body, value) = try await sent(.json(Visit()), by: configuration, reply: plain)
        #expect(body == #"{"CITYNAME":"Oslo","STARTEDAT":"d1700000000","BYNAME":{"isOpen":1}}"#)
        #expect(value == Visit())
    }

    @Test func derivedShapeExpectsDatesAsText() throws {
        #expect(try JSONShape(for: Date.self) == .string)
    }
}
