import NetKit

/// One URL of a command line, from the request to the last byte of its body.
struct Fetch {
    let job: Job
    let arguments: Arguments
    let agent: Agent
    let console: Console
    /// Whose it is to write to standard output.
    let turn: Turn

    /// Everything but what is said at the end.
    func run() async -> (account: Account, heads: String) {
        var account = Account(job)
        var heads = ""
        do throws(Failure) {
            try await perform(&account, &heads)
        } catch {
            account.exitCode = error.exitCode
            account.message = error.message
        }
        return (account, heads)
    }

    private func perform(_ account: inout Account, _ heads: inout String) async throws(Failure) {
        let output = try Output(job.output, of: job.url, turn: turn)
        defer { output.end() }
        let plan = try Plan(job, of: arguments)
        account.method = plan.request.method
        account.fileName = output.path
        let request = shown(plan.request, name: output.path ?? plan.uploadName ?? "standard output")
        let outcome: Result<Void, Failure>
        do throws(NetError) {
            let stream = try await agent.stream(request)
            account.uploadedBytes = plan.uploadedBytes
            outcome = try await receive(stream, plan, output, &account, &heads)
        } catch {
            account.take(error)
            console.end(job.index)
            if heads.isEmpty, let response = error.response {
                heads = Output.head(response.httpVersion, response.status, response.headers)
                say(Verbose.opening(of: plan, error.metrics, heads: [response.headers]))
                try? await showHeads(heads, output)
            } else if heads.isEmpty {
                say(Verbose.opening(of: plan, error.metrics, heads: []))
            }
            say(Verbose.closing(of: error.metrics))
            throw Failure(error)
        }
        try outcome.get()
    }

    /// With a line of progress, where there is one.
    private func shown(_ request: Request<Bytes>, name: String) -> Request<Bytes> {
        var request = request
        let (console, index) = (console, job.index)
        console.begin(index, name: Verbose.printable(name.split(separator: "/").last.map(String.init) ?? name))
        request.progress = { progress in
            if !progress.isOver {
                console.update(index, progress)
            }
        }
        return request
    }

    // MARK: The response

    private func receive(
        _ stream: ResponseStream, _ plan: Plan, _ output: Output, _ account: inout Account, _ heads: inout String
    ) async throws(NetError) -> Result<Void, Failure> {
        account.take(stream)
        let earlier = stream.earlierHeads.map { Output.head($0.httpVersion, $0.status, $0.headers) }
        heads = earlier.joined() + Output.head(stream.httpVersion, stream.status, stream.headers)
        say(Verbose.opening(of: plan, stream.metrics, heads: stream.earlierHeads.map(\.headers) + [stream.headers]))
        do throws(Failure) {
            if arguments.failsOnStatus && stream.status >= 400 {
                try await showHeads(heads, output)
                throw Failure(ExitCode.badStatus, "\(stream.url) answered with status \(stream.status)")
            }
            if arguments.headPath == "-" {
                try await output.writeFirst(heads)
            }
            try await output.begin()
            if arguments.showsHead || arguments.asksForHead {
                try output.write(heads)
            }
        } catch {
            return .failure(error)
        }
        var chunks = stream.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            if arguments.asksForHead {
                continue
            }
            do throws(Failure) {
                try output.write(chunk)
            } catch {
                return .failure(error)
            }
        }
        account.metrics = stream.metrics
        do throws(Failure) {
            try output.keep()
        } catch {
            return .failure(error)
        }
        let (bytes, took) = (max(account.metrics.last?.receivedBytes ?? 0, account.uploadedBytes), account.took)
        let name = Verbose.printable(output.path ?? plan.uploadName ?? "standard output")
        console.end(job.index) { ProgressLine.end(name: name, bytes: bytes, took: took, width: $0) }
        say(Verbose.closing(of: stream.metrics))
        return .success(())
    }

    /// The heads of what has no body for anybody: a file gets none of them.
    private func showHeads(_ heads: String, _ output: Output) async throws(Failure) {
        if arguments.headPath == "-" {
            try await output.writeFirst(heads)
        }
        if output.path == nil && (arguments.showsHead || arguments.asksForHead) {
            try await output.begin()
            try output.write(heads)
        }
    }

    private func say(_ lines: [String]) {
        if arguments.isVerbose {
            console.say(lines)
        }
    }
}

extension Account {
    fileprivate mutating func take(_ stream: ResponseStream) {
        status = stream.status
        headers = stream.headers
        metrics = stream.metrics
    }

    fileprivate mutating func take(_ error: NetError) {
        status = error.response?.status ?? status
        headers = error.response?.headers ?? headers
        metrics = error.metrics.isEmpty ? metrics : error.metrics
    }
}
