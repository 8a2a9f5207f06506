import NetKit

/// `nk run`: sends the requests in a file as a batch or a chain, and prints the results.
struct RunCommand {
    private static let help = """
        Usage: nk run [--json] FILE

        Sends the requests of a JSON file (- is standard input) as a batch or a chain.
        Prints a table of the responses and a timeline.

          {"kind": "chain", "base": "https://api.example.com/v1", "steps": [
            {"name": "login", "url": "login", "json": {"user": "bang"}},
            {"url": "users/${login/id}/posts", "query": {"count": 10}}]}

              --json    Print one JSON object instead
          -h, --help    Print this help

        docs/nk.md describes the format of FILE. Exit code: 0 success, 2 invalid FILE
        or usage, else that of the first step in FILE that failed: 22 HTTP status, 7
        connection refused, ...

        """

    private var file: String?
    private var printsJSON = false
    private var wantsHelp = false

    static func run(_ words: ArraySlice<String>) async -> Int32 {
        do throws(UsageError) {
            let command = try RunCommand(parsing: words)
            if command.wantsHelp {
                return Command.show(help)
            }
            return await command.perform()
        } catch {
            return Command.complain(Failure(ExitCode.usage, error.message))
        }
    }

    private init(parsing words: ArraySlice<String>) throws(UsageError) {
        var areOptionsOver = false
        for word in words {
            switch word {
            case _ where areOptionsOver || word == "-" || !word.hasPrefix("-"):
                if file != nil {
                    throw UsageError("run accepts one file; see nk run --help")
                }
                file = word
            case "--": areOptionsOver = true
            case "-h", "--help": wantsHelp = true
            case "--json": printsJSON = true
            default: throw UsageError("run: unknown option \(word); see nk run --help")
            }
        }
        if file == nil && !wantsHelp {
            throw UsageError("run needs a file; see nk run --help")
        }
    }

    private func perform() async -> Int32 {
        let document: RunDocument
        do throws(Failure) {
            document = try self.document()
        } catch {
            return Command.complain(error)
        }
        let history = StepHistory(document.steps.map(\.name))
        return await Command.untilInterrupted {
            let error = await Self.sendSteps(document, history)
            let exitCode = Self.exitCode(history.entries, error)
            let report = RunReport(history.entries, kind: document.kind, exitCode: exitCode)
            let text =
                printsJSON
                ? report.json + "\n"
                : report.lines(width: Window.outputColumns, hasColours: Terminal.hasColours).map { $0 + "\n" }.joined()
            let code = Command.show(text)
            return code == ExitCode.success ? report.exitCode : code
        }
    }

    private func document() throws(Failure) -> RunDocument {
        let file = file ?? "-"
        let location = file == "-" ? "standard input" : file
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: file)
        } catch {
            throw Failure(reading: error, from: file)
        }
        do throws(RunFault) {
            return try RunDocument(Bytes(bytes))
        } catch {
            throw Failure(ExitCode.usage, "\(location)\(error.location): \(error.message)")
        }
    }

    /// Returns the exit code of the first step that failed itself. Steps that were cancelled because another step
    /// failed are ignored.
    private static func exitCode(_ entries: [StepHistory.Entry], _ error: NetError?) -> Int32 {
        let errors = entries.compactMap(\.error)
        guard let error = errors.first(where: { $0.code != .cancelled }) ?? errors.first ?? error else {
            return ExitCode.success
        }
        return error.code == .status ? ExitCode.badStatus : ExitCode.of(error)
    }

    // MARK: Work

    /// Sends the steps of the document. Returns the error, if there was one.
    private static func sendSteps(_ document: RunDocument, _ history: StepHistory) async -> NetError? {
        var configuration = Agent.Configuration(baseURL: document.base, headers: document.headers)
        configuration.userAgent = "nk/\(Versions.nk)"
        let agent = Agent(configuration)
        let error = await outcome(of: document, history, agent)
        await agent.shutdown()
        return error
    }

    private static func outcome(of document: RunDocument, _ history: StepHistory, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            switch document.kind {
            case .batch:
                var batch = Batch(document.steps.indices.map { operation($0, of: document, history) })
                if let limit = document.limit {
                    batch = batch.limited(to: limit)
                }
                if document.collects {
                    _ = try await agent.send(batch.collectingAll)
                } else {
                    _ = try await agent.send(batch)
                }
            case .chain:
                _ = try await agent.send(graph(document, history))
            }
            return nil
        } catch {
            return error
        }
    }

    private static func operation(_ index: Int, of document: RunDocument, _ history: StepHistory) -> StepOperation {
        StepOperation(index: index, history: history) { () throws(NetError) in
            try document.request(index, StepResponses { _ throws(NetError) in [] })
        }
    }

    private static func graph(_ document: RunDocument, _ history: StepHistory) -> StepGraph {
        var graph = StepGraph()
        for (index, step) in document.steps.enumerated() {
            graph.add(step.name, after: step.earlier) { run in
                StepOperation(index: index, history: history) { () throws(NetError) in
                    try document.request(
                        index, StepResponses { name throws(NetError) in try run[StepKey<Bytes>(name)] })
                }
            }
        }
        return graph
    }
}

extension RunDocument {
    /// Creates the request of a step. Values from the responses of other steps are inserted.
    fileprivate func request(_ index: Int, _ responses: StepResponses) throws(NetError) -> Request<Bytes> {
        let step = steps[index]
        var request = Request<Bytes>(try step.url.text(responses, encode: Percent.encoded))
        for (name, value) in step.headers {
            request.headers.append(name: name, value: try value.text(responses))
        }
        if let body = step.body {
            let bytes = Bytes(Array(try body.text(responses).utf8))
            request.body = Body(bytes, contentType: "text/plain; charset=utf-8")
        } else if let json = step.json {
            request.body = Body(
                Bytes(Array(try json.filled(responses).description.utf8)), contentType: "application/json")
        }
        request.method = step.method ?? (request.body == nil ? .get : .post)
        if let query = step.query {
            request.queryMethods.insert(request.method)
            request.parameters = try query.filled(responses).parameters
        }
        request.acceptedStatuses = step.statuses
        if let total = step.total ?? total {
            var limits = Limits()
            limits.total = total
            request.limits = limits
        }
        return request
    }
}
