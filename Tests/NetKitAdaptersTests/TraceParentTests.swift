import NetKit
import NetKitAdapters
import NetKitTesting
import Testing

struct TraceParentTests {
    private static let example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func traceparentRoundTrips() throws {
        let parent = try #require(TraceParent(Self.example))
        #expect(parent.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(parent.spanID == "b7ad6b7169203331")
        #expect(parent.isSampled)
        #expect(parent.description == Self.example)
        #expect(TraceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-fe")?.isSampled == false)
        #expect(TraceParent(" \t\(Self.example) ") == parent)
        #expect(TraceParent("01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more") != nil)
    }

    @Test(arguments: [
        "", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333g-01",
        "0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-1",
    ])
    func malformedTraceparentIsRejected(field: String) {
        #expect(TraceParent(field) == nil)
    }

    private func receivedHeaders(
        _ tracing: TracePropagation, _ headers: Headers = [:], tries: Int = 1
    ) async throws -> [Headers] {
        let stub = StubTransport { _ in .status(503) }
        var retry = Retry(maxRetries: tries - 1, time: StubTime().source)
        retry.budget = nil
        var configuration = Agent.Configuration()
        configuration.interceptors = [retry, tracing]
        _ = try await Agent(configuration, transport: stub).send(Request<Bytes>("http://a/", headers: headers))
        return stub.requests.map(\.headers)
    }

    @Test func eachAttemptIsAChildSpanOfTheCurrentSpan() async throws {
        let parent = try #require(TraceParent(Self.example))
        let headers = try await receivedHeaders(TracePropagation { parent }, tries: 3)
        let spans = headers.map { TraceParent($0["traceparent"] ?? "") }
        #expect(spans.map { $0?.traceID } == Array(repeating: parent.traceID, count: 3))
        #expect(Set(spans.map { $0?.spanID } + [parent.spanID]).count == 4)
    }

    @Test func newTraceStartsWithoutACurrentSpan() async throws {
        let first = try await receivedHeaders(TracePropagation())[0]["traceparent"].flatMap(TraceParent.init)
        let unsampled = TracePropagation(isSampled: false)
        let second = try await receivedHeaders(unsampled)[0]["traceparent"].flatMap(TraceParent.init)
        #expect(first?.isSampled == true && second?.isSampled == false)
        #expect(first?.traceID != second?.traceID)
    }

    @Test func validTraceparentOfTheRequestIsPreservedAndAMalformedOneReplaced() async throws {
        let own = try await receivedHeaders(TracePropagation(), ["traceparent": Self.example, "tracestate": "a=1"])[0]
        #expect(own["traceparent"] == Self.example && own["tracestate"] == "a=1")
        let broken = try await receivedHeaders(TracePropagation(), ["traceparent": "00-broken", "tracestate": "a=1"])[0]
        #expect(broken["traceparent"].flatMap(TraceParent.init) != nil)
        #expect(broken["tracestate"] == nil)
        #expect(broken.values(named: "traceparent").count == 1)
    }
}
