import NetKit
import NetKitCompat
import NetKitTesting

/// A way to send a request, an endpoint, or another value that creates a request.
enum Way: String, CaseIterable, Sendable {
    case send, result, start, prepare, stream, download, plainDownload, resumedDownload, startedDownload, open, parts,
        events
    case withResponse, batch, collectingAll, chain, laterStep, graph, graphStep, startedBatch, startedChain
    case pages, pager, answers, warm

    /// The public functions of the way, as ``PublicFunctions`` writes them.
    var functions: [String] {
        switch self {
        case .send: ["Agent.send(_:)"]
        case .result: ["Agent.result(_:)"]
        case .start: ["Agent.start"]
        case .prepare: ["Agent.prepare"]
        case .stream: ["Agent.stream(_:)"]
        case .download, .plainDownload: ["Agent.download(_:to:options:destination:)"]
        case .resumedDownload: ["Agent.download(_:resuming:options:destination:)"]
        case .startedDownload:
            ["Download.init(_:to:options:destination:)", "Download.init(_:resuming:options:destination:)"]
        case .open: ["Agent.open(_:)"]
        case .parts: ["Agent.parts(_:limits:deciding:)"]
        case .events: ["Agent.serverSentEvents(_:lastEventID:reconnectDelay:maxEventBytes:)"]
        case .withResponse: ["RequestConvertible.withResponse"]
        case .batch: ["Batch.init(_:)"]
        case .collectingAll: ["Batch.collectingAll"]
        case .chain: ["Chain.init(_:name:)"]
        case .laterStep: ["Chain.then(_:_:)"]
        case .graph: ["StepGraph.add(_:after:_:)"]
        case .graphStep: ["StepRun.add(_:after:_:)"]
        case .startedBatch, .startedChain: []
        case .pages: ["RequestSender.pages(of:by:size:)"]
        case .pager: ["Pager.init(_:by:size:through:)"]
        case .answers: ["Agent.answers(to:)"]
        case .warm: ["Agent.warm(_:)"]
        }
    }

    /// Whether the way has a decoded value, which the success hooks receive.
    var hasValue: Bool { ![.stream, .parts, .events].contains(self) }

    /// Whether the body is written to a file.
    var isDownload: Bool { [.download, .plainDownload, .resumedDownload, .startedDownload].contains(self) }

    /// Whether the way adds the number of a page.
    var isPaged: Bool { self == .pages || self == .pager }

    /// Whether a stored response is used instead of a new one.
    var usesStoredResponse: Bool { !isDownload && ![.events, .warm, .answers].contains(self) }

    /// The reply that the way can read.
    var reply: StubReply {
        switch self {
        case .parts:
            StubReply(
                headers: ["Content-Type": "multipart/mixed; boundary=b"], body: [.text("--b\r\n\r\none\r\n--b--\r\n")])
        case .events: StubReply(headers: ["Content-Type": "text/event-stream"], body: [.text("data: one\n\n")])
        default: .text("one")
        }
    }

    /// Sends the value once, and reads the response to its end.
    func run<Source: RequestConvertible>(
        _ source: Source, by agent: Agent, in folder: TemporaryFolder
    ) async throws where Source.Value == String {
        let style = PageStyle<String>.number(size: nil) { _ in 0 }
        switch self {
        case .send: _ = try await agent.send(source)
        case .result: _ = try await agent.result(source).get()
        case .start: _ = try await agent.start(source, on: .here).value
        case .prepare: _ = try await agent.prepare(source, on: .here).start().value
        case .stream: _ = try await agent.stream(source).collect(upTo: 100)
        case .download: _ = try await agent.download(source, to: folder.file("file"))
        case .plainDownload:
            _ = try await agent.download(source, to: folder.file("file"), options: .init(isResumable: false))
        case .resumedDownload:
            let token = ResumeToken(
                url: "http://stub/cities", path: folder.file("file"), partialPath: folder.file("file.part"),
                receivedBytes: 1)
            _ = try await agent.download(source, resuming: token)
        case .startedDownload: _ = try await agent.start(Download(source, to: folder.file("file")), on: .here).value
        case .open: _ = try await agent.open(source)
        case .parts: for try await _ in try await agent.parts(source) {}
        case .events: for try await _ in agent.serverSentEvents(source) { break }
        case .withResponse: _ = try await agent.send(source.withResponse)
        case .batch: _ = try await agent.send(Batch(source))
        case .collectingAll: _ = try await agent.send(Batch([source]).collectingAll).results[0].get()
        case .chain: _ = try await agent.send(Chain(source))
        case .laterStep: _ = try await agent.send(Chain(ConstantOperation()).then { _ in source })
        case .graph:
            var graph = StepGraph()
            graph.add("one", source)
            _ = try await agent.send(graph)
        case .graphStep:
            var graph = StepGraph()
            graph.add("one") { run in
                try run.add("two", after: ["one"], source)
                return ConstantOperation()
            }
            _ = try await agent.send(graph)
        case .startedBatch: _ = try await agent.start(Batch([source]), on: .here).value
        case .startedChain: _ = try await agent.start(Chain(source), on: .here).value
        case .pages: for try await _ in agent.pages(of: source, by: style) { break }
        case .pager: _ = try await Pager(source, by: style, through: agent).refresh()
        case .answers: for try await _ in agent.answers(to: source) {}
        case .warm: try await agent.warm(source)
        }
    }
}

/// A kind of value that an agent can send.
enum SourceKind: String, CaseIterable, Sendable {
    case request, endpoint, convertible, startable
}

/// Everything that a call of a source reports.
struct CallRecord: Sendable {
    let accessories = Collected<String>()
    let hooks = Collected<String>()
    let progress = Collected<TransferProgress>()
    let listedTags = Collected<[Int]>()
    let interceptions = Collected<String>()

    var accessory: RecordingAccessory { RecordingAccessory("own", accessories) }

    /// Hooks that record the outcome.
    func outcomeHooks() -> OutcomeHooks<Response<String>> {
        var hooks = OutcomeHooks<Response<String>>()
        hooks.preprocessSuccess = { [log = self.hooks] response throws(NetError) in
            log.append("preprocessed \(response.value)")
            return response
        }
        hooks.filterSuccess = { [log = self.hooks] response in
            log.append("filtered \(response.value)")
            return response
        }
        hooks.preprocessFailure = { [log = self.hooks] error in
            log.append("preprocessed \(error.code)")
            return error
        }
        hooks.filterFailure = { [log = self.hooks] error in
            log.append("filtered \(error.code)")
            return error
        }
        return hooks
    }

    /// Sets the options that an endpoint has no property for.
    func setOptions(of request: inout Request<String>, by agent: Agent) {
        request.interceptors = [
            Wrapping { [self, weak agent] call, next throws(NetError) in
                interceptions.append(call.request.url)
                listedTags.append(agent?.requestTasks().map(\.tag) ?? [])
                return try await next(call)
            }
        ]
        request.progress = { [progress] in progress.append($0) }
        request.caching = .app(60)
    }

    /// Creates the request in one expression, for the kinds that are not endpoints.
    func request(by agent: Agent, withListeners: Bool) -> Request<String> {
        var request = Request<String>("cities", parameters: ["q": "1"], headers: ["X-Own": "1"])
        setOptions(of: &request, by: agent)
        if withListeners {
            request.tag = 7
            request.accessories = [accessory]
            request.hooks = outcomeHooks()
        }
        return request
    }
}

/// An endpoint that uses every kind of property.
struct RecordedEndpoint {
    let record: CallRecord
    let agent: Agent
}

extension RecordedEndpoint: Endpoint, Accompanied, Hooked {
    typealias Value = String
    var path: String { "cities" }
    var parameters: Parameters? { ["q": "1"] }
    var headers: Headers { ["X-Own": "1"] }
    var tag: Int { 7 }
    var accessories: [any Accessory] { [record.accessory] }
    var hooks: OutcomeHooks<Response<String>> { record.outcomeHooks() }
    func finish(_ request: inout Request<String>) { record.setOptions(of: &request, by: agent) }
}

/// A value that creates a request with all of its settings.
struct RecordedConvertible: RequestConvertible {
    let record: CallRecord
    let agent: Agent

    func request() async throws(NetError) -> Request<String> { record.request(by: agent, withListeners: true) }
}

/// A value that describes its task, and creates a request without these settings.
struct RecordedStartable: Accompanied, Hooked {
    let record: CallRecord
    let agent: Agent
    var tag: Int { 7 }
    var accessories: [any Accessory] { [record.accessory] }
    var hooks: OutcomeHooks<Response<String>> { record.outcomeHooks() }

    func request() async throws(NetError) -> Request<String> { record.request(by: agent, withListeners: false) }
}

extension Way {
    /// Sends a value of this kind once.
    func run(_ kind: SourceKind, _ record: CallRecord, by agent: Agent, in folder: TemporaryFolder) async throws {
        switch kind {
        case .request: try await run(record.request(by: agent, withListeners: true), by: agent, in: folder)
        case .endpoint: try await run(RecordedEndpoint(record: record, agent: agent), by: agent, in: folder)
        case .convertible: try await run(RecordedConvertible(record: record, agent: agent), by: agent, in: folder)
        case .startable: try await run(RecordedStartable(record: record, agent: agent), by: agent, in: folder)
        }
    }
}
