import NetKit

/// `nk run`: runs the batch or chain in a file, and prints the results.
struct RunCommand {
    private static let help = """
        Usage: nk run [--json] FILE

        Sends the requests that FILE (JSON; - is standard input) describes, as a batch
        or as a chain, and prints a table of what came and a waterfall of when.

          {"kind": "chain", "base": "https://api.example.com/v1", "steps": [
            {"name": "login", "url": "login", "json": {"user": "bang"}},
            {"url": "users/${login/id}/posts", "query": {"count": 10}}]}

              --json    prints one JSON object instead, for programs
          -h, --help

        docs/nk.md lists what FILE may say. Exit codes: 0 when all went well, 2 for a
        FILE that is wrong, with its place and what is wanted; else that of the step
        that failed, of several the first one written: 22 for its status, 7 when nobody
        listens, ...

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
            return await command.answer()
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
                    throw UsageError("run takes one file; nk run --help")
                }
                file = word
            case "--": areOptionsOver = true
            case "-h", "--help": wantsHelp = true
            case "--json": printsJSON = true
            default: throw UsageError("run knows no option \(word)")
            }
        }
        if file == nil && !wantsHelp {
            throw UsageError("run takes a file; nk run --help")
        }
    }

    private func answer() async -> Int32 {
        let document: RunDocument
        do throws(Failure) {
            document = try self.document()
        } catch {
            return Command.complain(error)
        }
        let board = RunBoard(document.steps.map(\.name))
        return await Command.untilInterrupted {
            let error = await Self.work(document, board)
            let exitCode = Self.exitCode(board.entries, error)
            let report = RunReport(board.entries, kind: document.kind, exitCode: exitCode)
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
        let place = file == "-" ? "standard input" : file
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: file)
        } catch {
            throw Failure(reading: error, from: file)
        }
        do throws(RunFault) {
            return try RunDocument(Bytes(bytes))
        } catch {
            throw Failure(ExitCode.usage, "\(place)\(error.place): \(error.message)")
        }
    }

    /// The exit code of the first step with its own failure. Steps that were cancelled by it are ignored.
    private static func exitCode(_ entries: [RunBoard.Entry], _ error: NetError?) -> Int32 {
        let errors = entries.compactMap(\.error)
        guard let error = errors.first(where: { $0.code != .cancelled }) ?? errors.first ?? error else {
            return ExitCode.success
        }
        return error.code == .unacceptableStatus ? ExitCode.badStatus : ExitCode.of(error)
    }

    // MARK: Work

    /// Runs the document. Returns the error, if there was one.
    private static func work(_ document: RunDocument, _ board: RunBoard) async -> NetError? {
        var configuration = Agent.Configuration(baseURL: document.base, headers: document.headers)
        configuration.userAgent = "nk/\(Versions.nk)"
        let agent = Agent(configuration)
        let error = await outcome(of: document, board, agent)
        await agent.shutdown()
        return error
    }

    private static func outcome(of document: RunDocument, _ board: RunBoard, _ agent: Agent) async -> NetError? {
        do throws(NetError) {
            switch document.kind {
            case .batch:
                var batch = Batch(document.steps.indices.map { errand($0, of: document, board) })
                batch.concurrency = document.limit.map { .limited($0) } ?? .unlimited
                if document.collects {
                    _ = try await agent.send(batch.collectingAll)
                } else {
                    _ = try await agent.send(batch)
                }
            case .chain:
                _ = try await agent.send(graph(document, board))
            }
            return nil
        } catch {
            return error
        }
    }

    private static func errand(_ index: Int, of document: RunDocument, _ board: RunBoard) -> RunErrand {
        RunErrand(index: index, board: board) { () throws(NetError) in
            try document.request(index, RunAnswers { _ throws(NetError) in [] })
        }
    }

    private static func graph(_ document: RunDocument, _ board: RunBoard) -> StepGraph {
        var graph = StepGraph()
        for (index, step) in document.steps.enumerated() {
            graph.add(step.name, after: step.earlier) { run in
                RunErrand(index: index, board: board) { () throws(NetError) in
                    try document.request(index, RunAnswers { name throws(NetError) in try run[StepKey<Bytes>(name)] })
                }
            }
        }
        return graph
    }
}

extension RunDocument {
    /// Creates the request of a step, with the responses of others.
    fileprivate func request(_ index: Int, _ answers: RunAnswers) throws(NetError) -> Request<Bytes> {
        let step = steps[index]
        var request = Request<Bytes>(try step.url.text(answers, encode: Percent.encoded))
        for (name, value) in step.headers {
            request.headers.append(name: name, value: try value.text(answers))
        }
        if let body = step.body {
            let bytes = Bytes(Array(try body.text(answers).utf8))
            request.body = Body(bytes, contentType: "text/plain; charset=utf-8")
        } else if let json = step.json {
            request.body = Body(
                Bytes(Array(try json.filled(answers).description.utf8)), contentType: "application/json")
        }
        request.method = step.method ?? (request.body == nil ? .get : .post)
        if let query = step.query {
            request.queryMethods.insert(request.method)
            request.parameters = try query.filled(answers).parameters
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
