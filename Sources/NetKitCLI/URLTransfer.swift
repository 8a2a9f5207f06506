import NetKit

/// Fetches one URL of a command line.
struct URLTransfer {
    let job: Job
    let arguments: Arguments
    let agent: Agent
    let console: Console
    /// The mutex of standard output, which admits one writer at a time.
    let mutex: AsyncMutex

    /// Fetches the URL and writes the body. Returns the result, and the heads of all hops.
    func run() async -> (transferReport: TransferReport, heads: [UInt8]) {
        var transferReport = TransferReport(job)
        var heads: [UInt8] = []
        do throws(Failure) {
            try await perform(&transferReport, &heads)
        } catch {
            transferReport.exitCode = error.exitCode
            transferReport.message = error.message
        }
        return (transferReport, heads)
    }

    /// Sets the modification time of the file to that of Last-Modified, if -R is given.
    func keepTime(_ transferReport: TransferReport, of path: String?) throws(Failure) {
        guard arguments.keepsTime, let path, let modified = transferReport.modified else { return }
        do throws(SystemError) {
            try OutputFile.setModified(path, to: modified)
        } catch {
            throw Failure(writing: error, to: path)
        }
    }

    private func perform(_ transferReport: inout TransferReport, _ heads: inout [UInt8]) async throws(Failure) {
        let transferRequest = try TransferRequest(job, of: arguments)
        transferReport.method = transferRequest.request.method
        if let job = try DownloadJob(job, of: arguments) {
            return try await download(job, transferRequest, &transferReport, &heads)
        }
        let output = try Output(job.output, of: job.url, makesFolders: arguments.makesFolders, mutex: mutex)
        defer { output.end() }
        transferReport.fileName = output.path
        var request = shown(
            transferRequest.request, name: output.path ?? transferRequest.uploadName ?? "standard output",
            counting: transferReport.sent)
        // With -D -, the heads may have to wait until standard output is free.
        request.isReadImmediately = output.isRegularFile && arguments.headPath != "-"
        let redirectHeads = RedirectHeads()
        if arguments.usesHeads {
            request.observers = [redirectHeads]
        }
        let outcome: Result<Void, Failure>
        do throws(NetError) {
            if arguments.cache.deliversTwice {
                outcome = try await receiveAll(
                    agent.answers(to: request), transferRequest, output, &transferReport, &heads)
            } else {
                let stream = try await agent.stream(request)
                outcome = try await receive(stream, transferRequest, output, &transferReport, &heads)
            }
        } catch {
            transferReport.setResult(error)
            console.end(job.index)
            if heads.isEmpty, arguments.usesHeads {
                let responseHeads = redirectHeads.all(with: error.serverResponse)
                heads = responseHeads.flatMap { Output.head($0.httpVersion, $0.status, $0.headers) }
                // If the last hop had no response, it gets empty fields.
                let none = error.metrics.last?.status == 0 ? [Headers()] : []
                say(Verbose.opening(of: transferRequest, error.metrics, heads: responseHeads.map(\.headers) + none))
                try? await showHeads(heads, output)
            }
            say(Verbose.closing(of: error.metrics))
            throw Failure(error)
        }
        try outcome.get()
    }

    /// Returns the request with a handler that counts the sent bytes and updates the progress line.
    func shown(_ request: Request<Bytes>, name: String, counting sent: Lock<Int>) -> Request<Bytes> {
        var request = request
        let (console, index) = (console, job.index)
        if console.showsProgress {
            console.begin(index, name: Verbose.printable(name.split(separator: "/").last.map(String.init) ?? name))
        }
        if console.showsProgress || request.body != nil {
            request.progress = { progress in
                sent.withLock { $0 = progress.sent }
                if !progress.isOver {
                    console.update(index, progress)
                }
            }
        }
        return request
    }

    // MARK: The response

    /// Writes the stored response and then the response from the network. If the body is written to a file, the second
    /// replaces the first.
    private func receiveAll(
        _ responses: some AsyncSequence<Response<Bytes>, NetError>, _ transferRequest: TransferRequest,
        _ output: Output, _ transferReport: inout TransferReport, _ heads: inout [UInt8]
    ) async throws(NetError) -> Result<Void, Failure> {
        var outcome = Result<Void, Failure>.success(())
        for try await response in responses {
            outcome = try await receive(
                ResponseStream(whole: response), transferRequest, output, &transferReport, &heads)
            if case .failure = outcome {
                return outcome
            }
        }
        return outcome
    }

    private func receive(
        _ stream: ResponseStream, _ transferRequest: TransferRequest, _ output: Output,
        _ transferReport: inout TransferReport, _ heads: inout [UInt8]
    ) async throws(NetError) -> Result<Void, Failure> {
        transferReport.setResult(stream)
        let responseHeadBytes = arguments.usesHeads ? Self.heads(of: stream) : []
        // With a cache, there may be two responses, each with its own heads.
        heads += responseHeadBytes
        say(
            stream.cache.flatMap { $0.sendsNothing ? ["* response from the cache (\($0.reason))"] : nil }
                ?? Verbose.opening(
                    of: transferRequest, stream.metrics,
                    heads: stream.earlierHeads.map(\.headers) + [stream.headers]))
        do throws(Failure) {
            if arguments.failsOnStatus && stream.status >= 400 {
                try await showHeads(responseHeadBytes, output)
                throw badStatus(stream)
            }
            if let unexpected = unexpected(stream, transferRequest.request) {
                try await showHeads(responseHeadBytes, output)
                throw unexpected
            }
            if arguments.headPath == "-" {
                try await output.writeFirst(responseHeadBytes)
            }
            let writesHead = arguments.showsHead || arguments.usesHeadMethod
            // After a 304 the existing file is still valid and is not touched.
            if stream.status != 304 || output.path == nil || writesHead {
                try await output.begin()
            }
            if writesHead {
                try output.write(head: responseHeadBytes)
            } else if output.isTerminal, stream.status >= 400, !arguments.isVerbose, !arguments.isSilent {
                let type = stream.headers["Content-Type"].map { ", \($0)" } ?? ""
                console.say("\(stream.httpVersion) \(stream.status)\(Verbose.printable(type))")
            }
            if arguments.indentsJSON ?? output.isTerminal, Self.isJSON(stream.headers["Content-Type"]) {
                output.printJSON(hasColours: arguments.usesColours ?? (output.isTerminal && Terminal.hasColours))
            }
        } catch {
            return .failure(error)
        }
        var chunks = stream.makeAsyncIterator()
        while let chunk = try await chunks.next() {
            if arguments.usesHeadMethod {
                continue
            }
            do throws(Failure) {
                try output.write(chunk)
            } catch {
                return .failure(error)
            }
        }
        transferReport.metrics = stream.metrics
        do throws(Failure) {
            if arguments.writeOut == nil {
                try output.endLine()
            }
            try output.keep()
            try keepTime(transferReport, of: stream.status == 304 ? nil : output.path)
        } catch {
            return .failure(error)
        }
        let (bytes, elapsed) = (
            max(transferReport.metrics.last?.receivedBytes ?? 0, transferReport.uploadedBytes), transferReport.elapsed
        )
        let name = output.path ?? transferRequest.uploadName ?? "standard output"
        console.end(job.index) {
            ProgressLine.end(name: Verbose.printable(name), bytes: bytes, took: elapsed, width: $0)
        }
        if stream.cache?.sendsNothing != true {
            say(Verbose.closing(of: stream.metrics))
        }
        return checkedStatus(stream)
    }

    /// Returns the heads of all hops as text.
    private static func heads(of stream: ResponseStream) -> [UInt8] {
        let earlier = stream.earlierHeads.map { Output.head($0.httpVersion, $0.status, $0.headers) }
        return Array(earlier.joined())
            + Output.head(stream.httpVersion, stream.status, stream.headers.addingCacheStatus(stream.cache))
    }

    private static func isJSON(_ contentType: String?) -> Bool {
        ["application/json", "*+json", "text/json", "application/x-ndjson"].contains {
            contentType?.hasMediaType(of: $0) == true
        }
    }

    /// Returns the failure of a response whose body was written, if its status or length is not accepted.
    private func checkedStatus(_ stream: ResponseStream) -> Result<Void, Failure> {
        // The response to HEAD has no body, but the limit applies to the announced length.
        if arguments.usesHeadMethod, let limit = arguments.maxBodyBytes,
            let length = stream.headers["Content-Length"].flatMap({ Int($0) }), length > limit
        {
            let message =
                "\(redacted(stream.url)): body of \(length) bytes exceeds the limit of \(limit) (--max-filesize)"
            return .failure(Failure(ExitCode.tooLarge, message))
        }
        return arguments.failsWithBody && stream.status >= 400 ? .failure(badStatus(stream)) : .success(())
    }

    private func badStatus(_ stream: ResponseStream) -> Failure {
        Failure(ExitCode.badStatus, "HTTP \(stream.status) for \(redacted(stream.url))")
    }

    /// Returns a URL for an error message, without secrets, because messages are often logged.
    private func redacted(_ url: String) -> String { Redaction().hiding(url: url) }

    /// Returns a failure if --expect or --expect-schema is given and the response has another status or type than it requires.
    private func unexpected(_ stream: ResponseStream, _ request: Request<Bytes>) -> Failure? {
        guard request.expectation != nil else { return nil }
        if !request.acceptedStatuses.contains(stream.status) {
            return badStatus(stream)
        }
        let type = stream.headers["Content-Type"] ?? ""
        if !request.accepts(contentType: type) {
            let option = arguments.expectedBody?.option ?? "--expect"
            return Failure(
                ExitCode.badType,
                "\(redacted(stream.url)): Content-Type \"\(type)\" is not JSON (\(option) requires JSON)")
        }
        return nil
    }

    /// Writes the heads of a response whose body is not written to standard output, if -i, -I or -D - is given.
    private func showHeads(_ heads: [UInt8], _ output: Output) async throws(Failure) {
        if arguments.headPath == "-" {
            try await output.writeFirst(heads)
        }
        if output.path == nil && (arguments.showsHead || arguments.usesHeadMethod) {
            try await output.begin()
            try output.write(head: heads)
        }
    }

    /// Writes lines about the request if -v is given. Otherwise, the lines are not computed.
    func say(_ lines: @autoclosure () -> [String]) {
        if arguments.isVerbose {
            console.say(lines())
        }
    }
}

extension TransferReport {
    fileprivate mutating func setResult(_ stream: ResponseStream) {
        status = stream.status
        headers = stream.headers
        metrics = stream.metrics
    }

    mutating func setResult(_ error: NetError) {
        status = error.serverResponse?.status ?? status
        headers = error.serverResponse?.headers ?? headers
        metrics = error.metrics.isEmpty ? metrics : error.metrics
    }
}

extension NetError {
    /// The partial response of the server, if there is one. The response of a proxy to CONNECT is not one of the
    /// server.
    var serverResponse: Response<Bytes>? { code == .proxy ? nil : response }
}
