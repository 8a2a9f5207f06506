import NetKit
import Testing

/// Event streams from Tests/Vectors/event_streams.json.
///
/// The rows cover what the eventsource tests of web-platform-tests require of streams, statuses, types, identifiers and
/// retry times. Each row has the responses of a server, one per connection, and what the caller receives.
@Suite(.timeLimit(.minutes(5)))
struct EventStreamVectorTests {
    struct Row: Decodable, CustomTestStringConvertible, Sendable {
        struct ChainResponse: Decodable {
            var status: UInt16
            var type: String
            var body: String
        }

        struct Event: Decodable, Equatable {
            var id: String
            var event: String
            var data: String
        }

        var name: String
        var responses: [ChainResponse]
        var events: [Event]
        /// The Last-Event-ID of each request.
        var identifiers: [String?]?
        /// The time before each new connection, in milliseconds. 7000 is the value that the test sets.
        var pauses: [Int64]?
        var failure: String?

        var testDescription: String { name }
    }

    /// The events of the caller and the requests of the server.
    private struct Course {
        var events: [Row.Event] = []
        var pauses: [Duration] = []
        var failure: String?
        var identifiers: [String?] = []
    }

    private func course(of row: Row, bytesPerChunk: Int) async throws -> Course {
        let server = try LoopbackServer()
        let replies = row.responses.map { response in
            let hasBody = response.status != 204 && response.status != 205
            return Reply(
                status: response.status, headers: response.type.isEmpty ? [] : ["Content-Type: \(response.type)"],
                body: Array(response.body.utf8), chunkBytes: hasBody ? bytesPerChunk : 0)
        }
        server.script("/", replies + [Reply(status: 204)])
        let pauses = Collected<Duration>()
        var options = ServerSentEvent.Options()
        options.reconnectDelay = .milliseconds(7000)
        options.sleep = { pauses.append($0) }
        var course = Course()
        do throws(NetError) {
            for try await event in Agent().serverSentEvents(Request<Bytes>(server.url("/")), options: options) {
                course.events.append(.init(id: event.id, event: event.name, data: event.data))
            }
        } catch {
            course.failure = "\(error.code)"
        }
        course.pauses = pauses.values
        course.identifiers = (row.identifiers ?? []).indices.map {
            server.received($0).values(named: "Last-Event-ID").first
        }
        return course
    }

    @Test(arguments: try vectors("event_streams.json", of: Row.self), [1, 5, 1 << 20])
    func eventStreamIsParsedAsTheStandardRequires(row: Row, bytesPerChunk: Int) async throws {
        let course = try await course(of: row, bytesPerChunk: bytesPerChunk)
        #expect(course.events == row.events)
        #expect(course.failure == row.failure)
        #expect(course.identifiers == row.identifiers ?? [])
        if let pauses = row.pauses {
            #expect(course.pauses == pauses.map { .milliseconds($0) })
        }
    }
}
