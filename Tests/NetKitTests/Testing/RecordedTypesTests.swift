import NetKit
import NetKitTesting
import Testing

/// Values that a recorder hides keep their JSON type, so that a replay decodes.
struct RecordedTypesTests {
    private struct Login: Decodable, Sendable {
        struct Session: Decodable, Sendable {
            var id: Int
            var names: [String?]?
            var open: Bool?
        }

        var token: Int?
        var access_token: String?
        var session: Session?
        var secret: Bool?
        var pin: [Double]?
        var password: [[String: Int]]?
    }

    private func replayed(_ text: String) async throws -> (live: Login, again: Login, written: String) {
        let recorder = Recorder()
        let stub = StubTransport()
        stub.register("*", with: .json(text))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        let request = Request<Login>("/", method: .post, body: .text(text, contentType: "application/json"))
        let live = try await Agent(configuration, transport: stub).send(request).value
        let folder = try TemporaryFolder()
        try recorder.recording.write(to: folder.file("r.json"))
        let replay = try ReplayTransport(contentsOf: folder.file("r.json"))
        let again = try await Agent(.init(baseURL: "http://stub"), transport: replay).send(request).value
        return (live, again, recorder.recording.exchanges.first?.response?.body.text ?? "")
    }

    @Test(arguments: [
        #"{"token":12345}"#, #"{"token":12345,"session":{"id":12345,"names":["hunter2",null],"open":true}}"#,
        #"{"secret":true}"#, #"{"access_token":null}"#, #"{"access_token":"hunter2"}"#, #"{"pin":[12345,1.5e3,-7]}"#,
        #"{"pin":[]}"#, #"{ "password" : [ { "a" : 12345 } , {} ] , "token" : null }"#,
    ])
    func aReplayDecodes(text: String) async throws {
        let (_, _, written) = try await replayed(text)
        #expect(!written.contains("12345") && !written.contains("hunter2") && !written.contains("true"))
    }

    @Test func redactedValueKeepsItsType() async throws {
        let (_, again, written) = try await replayed(
            #"{"token":5,"access_token":null,"session":{"id":7,"names":["x"]},"secret":true,"pin":[1]}"#)
        #expect(
            written
                == #"{"token":0,"access_token":null,"session":{"id":0,"names":["[hidden]"]},"secret":false,"pin":[0]}"#)
        #expect(again.token == 0 && again.session?.id == 0 && again.secret == false && again.pin == [0])
    }

    /// A dictionary may have secrets as names.
    @Test func secretLikeNamesAreRedacted() async throws {
        let recorder = Recorder()
        let stub = StubTransport()
        stub.register("*", with: .json(#"{"sessions":{"8f14e45fceea167a":{"id":1},"c9f0f895fb98ab91":{"id":2}}}"#))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("/"))
        #expect(
            recorder.recording.exchanges.first?.response?.body.text
                == #"{"sessions":{"[hidden]":{"id":0},"[hidden] 2":{"id":0}}}"#)
    }

    @Test func redactedFormsAndQueriesMatch() async throws {
        let recorder = Recorder()
        let stub = StubTransport()
        stub.register("*", with: .text("in"))
        var configuration = Agent.Configuration(baseURL: "http://stub")
        configuration.interceptors = [recorder]
        let request = Request<String>(
            "/?token=5&page=2", method: .post, body: try .form(["pin": 1234, "secret": true, "token": .null]))
        _ = try await Agent(configuration, transport: stub).send(request)
        let replay = ReplayTransport(recorder.recording)
        #expect(try await Agent(.init(baseURL: "http://stub"), transport: replay).send(request).value == "in")
    }

    /// A log marks hidden values for its readers.
    @Test func logContainsTheRedactionMarker() {
        let body = Bytes(Array(#"{"token":5}"#.utf8))
        #expect(Redaction().hiding(body: body, contentType: "application/json") == #"{"token":"[hidden]"}"#)
    }
}
