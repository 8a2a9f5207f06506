import NetKit

/// Fetches one URL of a command line.
struct Fetch {
    let job: Job
    let arguments: Arguments
    let agent: Agent
    let console: Console
    /// Admits one writer of standard output at a time.
    let turn: Turn

    /// Runs everything except the output at the end.
    func run() async -> (account: Account, heads: [UInt8]) {
        var account = Account(job)
        var heads: [UInt8] = []
        do throws(Failure) {
            try await perform(&account, &heads)
        } catch {
            account.exitCode = error.exitCode
            account.message = error.message
        }
        return (account, heads)
    }

    /// Sets the file's time to that of the server's file.
    func keepTime(_ account: Account, of path: String?) throws(Failure) {
        guard arguments.keepsTime, let path, let modified = account.modified else { return }
        do throws(SystemError) {
            try OutputFile.setModified(path, to: modified)
        } catch {
            throw Failure(writing: error, to: path)
        }
    }

    private func perform(_ account: inout Account, _ heads: inout [UInt8]) async throws(Failure) {
        let plan = try Plan(job, of: arguments)
        account.method = plan.request.method
        if let job = try DownloadJob(job, of: arguments) {
            return try await download(job, plan, &account, &heads)
        }
        let output = try Output(job.output, of: job.url, makesFolders: arguments.makesFolders, turn: turn)
        defer { output.end() }
        account.fileName = output.path
        var request = shown(
            plan.request, name: output.path ?? plan.uploadName ?? "standard output", counting: account.sent)
        let followed = FollowedHeads()
        request.observers = [followed]
        let outcome: Result<Void, Failure>
        do throws(NetError) {
            if arguments.cache.deliversTwice {
                outcome = try await receiveAll(agent.answers(to: request), plan, output, &account, &heads)
            } else {
                let stream = try await agent.stream(request)
                outcome = try await receive(stream, plan, output, &account, &heads)
            }
        } catch {
            account.take(error)
            console.end(job.index)
            if heads.isEmpty {
                let told = followed.all(with: error.serverResponse)
                heads = told.flatMap { Output.head($0.httpVersion, $0.status, $0.headers) }
                // The last hop may have no response.
                let none = error.metrics.last?.status == 0 ? [Headers()] : []
                say(Verbose.opening(of: plan, error.metrics, heads: told.map(\.headers) + none))
                try? await showHeads(heads, output)
            }
            say(Verbose.closing(of: error.metrics))
            throw Failure(error)
        }
        try outcome.get()
    }

    /// Returns the request with a progress line, if there is one, and a count of the sent bytes.
    func shown(_ request: Request<Bytes>, name: String, counting sent: Lock<Int>) -> Request<Bytes> {
        var request = request
        let (console, index) = (console, job.index)
        console.begin(index, name: Verbose.printable(name.split(separator: "/").last.map(String.init) ?? name))
        request.progress = { progress in
            sent.withLock { $0 = progress.sent }
            if !progress.isOver {
                console.update(index, progress)
            }
        }
        return request
    }

    // MARK: The response

    /// Writes the stored response and then the network's. A file contains the last one.
    private func receiveAll(
        _ answers: Answers<Bytes>, _ plan: Plan, _ output: Output, _ account: inout Account, _ heads: inout [UInt8]
    ) async throws(NetError) -> Result<Void, Failure> {
        var outcome = Result<Void, Failure>.success(())
        for try await answer in answers {
            outcome = try await receive(ResponseStream(whole: answer), plan, output, &account, &heads)
            if case .failure = outcome {
                return outcome
            }
        }
        return outcome
    }

    private func receive(
        _ stream: ResponseStream, _ plan: Plan, _ output: Output, _ account: inout Account, _ heads: inout [UInt8]
    ) async throws(NetError) -> Result<Void, Failure> {
        account.take(stream)
        let earlier = stream.earlierHeads.map { Output.head($0.httpVersion, $0.status, $0.headers) }
        let last = Output.head(stream.httpVersion, stream.status, stream.headers.telling(stream.cache))
        // Each of the two responses has its own heads.
        let own = Array(earlier.joined()) + last
        heads += own
        let told = stream.earlierHeads.map(\.headers) + [stream.headers]
        say(
            stream.cache.flatMap { $0.sendsNothing ? ["* the cache answers (\($0.reason)), and nothing is sent"] : nil }
                ?? Verbose.opening(of: plan, stream.metrics, heads: told))
        do throws(Failure) {
            if arguments.failsOnStatus && stream.status >= 400 {
                try await showHeads(own, output)
                throw badStatus(stream)
            }
            if let unexpected = unexpected(stream, plan.request) {
                try await showHeads(own, output)
                throw unexpected
            }
            if arguments.headPath == "-" {
                try await output.writeFirst(own)
            }
            let writesHead = arguments.showsHead || arguments.asksForHead
            // After a 304 the file is still valid and unchanged.
            if stream.status != 304 || output.path == nil || writesHead {
                try await output.begin()
            }
            if writesHead {
                try output.write(head: own)
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
            try keepTime(account, of: stream.status == 304 ? nil : output.path)
        } catch {
            return .failure(error)
        }
        let (bytes, took) = (max(account.metrics.last?.receivedBytes ?? 0, account.uploadedBytes), account.took)
        let name = Verbose.printable(output.path ?? plan.uploadName ?? "standard output")
        console.end(job.index) { ProgressLine.end(name: name, bytes: bytes, took: took, width: $0) }
        if stream.cache?.sendsNothing != true {
            say(Verbose.closing(of: stream.metrics))
        }
        return judged(stream)
    }

    /// Returns failures that are detected after the body was written.
    private func judged(_ stream: ResponseStream) -> Result<Void, Failure> {
        // A HEAD response has no body, but its announced length is checked.
        if arguments.asksForHead, let most = arguments.maxBodyBytes,
            let length = stream.headers["Content-Length"].flatMap({ Int($0) }), length > most
        {
            let message = "\(named(stream.url)) announces \(length) bytes, more than the limit of \(most)"
            return .failure(Failure(ExitCode.tooLarge, message))
        }
        return arguments.failsWithBody && stream.status >= 400 ? .failure(badStatus(stream)) : .success(())
    }

    private func badStatus(_ stream: ResponseStream) -> Failure {
        Failure(ExitCode.badStatus, "\(named(stream.url)) answered with status \(stream.status)")
    }

    /// Returns a URL for an error message, without secrets: messages are often logged.
    private func named(_ url: String) -> String { Redaction().hiding(url: url) }

    /// Returns a failure if the response is not of the kind that --expect checks.
    private func unexpected(_ stream: ResponseStream, _ request: Request<Bytes>) -> Failure? {
        guard request.expectation != nil else { return nil }
        if request.acceptedStatuses?.contains(stream.status) == false {
            return badStatus(stream)
        }
        let type = stream.headers["Content-Type"] ?? ""
        if !request.accepts(contentType: type) {
            return Failure(
                ExitCode.badType, "\(named(stream.url)) answered with the type \"\(type)\", which is none of JSON")
        }
        return nil
    }

    /// Shows the heads of a response without a body. They are not written to a file.
    private func showHeads(_ heads: [UInt8], _ output: Output) async throws(Failure) {
        if arguments.headPath == "-" {
            try await output.writeFirst(heads)
        }
        if output.path == nil && (arguments.showsHead || arguments.asksForHead) {
            try await output.begin()
            try output.write(head: heads)
        }
    }

    func say(_ lines: [String]) {
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

    mutating func take(_ error: NetError) {
        status = error.serverResponse?.status ?? status
        headers = error.serverResponse?.headers ?? headers
        metrics = error.metrics.isEmpty ? metrics : error.metrics
    }
}

extension NetError {
    /// The partial response of the server. A proxy's 407 to CONNECT is not the server's.
    var serverResponse: Response<Bytes>? { code == .proxy ? nil : response }
}
