import NetKit

extension URLTransfer {
    /// Fetches the URL with a download into a file, which can be resumed and checked.
    func download(
        _ download: DownloadJob, _ transferRequest: TransferRequest, _ transferReport: inout TransferReport,
        _ heads: inout [UInt8]
    ) async throws(Failure) {
        do throws(Failure) {
            try await save(download, transferRequest, &transferReport, &heads)
        } catch {
            try? await dump(heads)
            throw error
        }
        try await dump(heads)
    }

    /// Writes the heads to standard output if -D - is given.
    private func dump(_ heads: [UInt8]) async throws(Failure) {
        guard arguments.headPath == "-" else { return }
        await mutex.lock()
        defer { mutex.unlock() }
        do throws(SystemError) {
            try Terminal.write(heads.span, to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }

    private func save(
        _ download: DownloadJob, _ transferRequest: TransferRequest, _ transferReport: inout TransferReport,
        _ heads: inout [UInt8]
    ) async throws(Failure) {
        if arguments.makesFolders {
            do throws(SystemError) {
                try OutputFile.makeFolders(of: download.path)
            } catch {
                throw Failure(writing: error, to: download.path)
            }
        }
        var request = shown(transferRequest.request, name: download.path, counting: transferReport.sent)
        if !arguments.isSilent {
            request.observers.append(ResumptionLine { [console] in console.say("nk: \($0)") })
        }
        let savedPath: String
        do throws(NetError) {
            // The target of a symbolic link is replaced and not the link, as for other bodies.
            let destination = OutputFile.behindLinks(download.path)
            let response = try await agent.download(request, to: destination, options: download.options)
            transferReport.setResult(response)
            transferReport.fileName = download.named(response.value.path)
            savedPath = response.value.path
            heads = Output.head(response.httpVersion, response.status, response.headers)
            say(Verbose.opening(of: transferRequest, response.metrics, heads: [response.headers], isDownload: true))
            let fetched = response.value.byteCount - response.value.resumedBytes
            let (name, elapsed) = (Verbose.printable(download.named(response.value.path)), transferReport.elapsed)
            console.end(job.index) { ProgressLine.end(name: name, bytes: fetched, took: elapsed, width: $0) }
            say(Verbose.closing(of: response.metrics))
        } catch {
            transferReport.setResult(error)
            console.end(job.index)
            if let response = error.serverResponse {
                heads = Output.head(response.httpVersion, response.status, response.headers)
            }
            let headers = error.serverResponse.map { [$0.headers] } ?? []
            say(Verbose.opening(of: transferRequest, error.metrics, heads: headers, isDownload: true))
            say(Verbose.closing(of: error.metrics))
            throw Failure(saving: error)
        }
        try keepTime(transferReport, of: savedPath)
    }
}

/// Writes a line when a download tries to continue an earlier one.
private struct ResumptionLine: Observer {
    let write: @Sendable (String) -> Void

    func observe(_ event: Event) {
        guard case .downloadResumed(let offset, let total) = event.change else { return }
        if offset == 0 {
            write("the partial file cannot be resumed; downloading from the start")
        } else {
            let size = total.map { " of \(Format.size($0))" } ?? ""
            write("resuming at \(Format.size(offset))\(size)")
        }
    }
}

extension TransferReport {
    fileprivate mutating func setResult(_ response: Response<DownloadedFile>) {
        status = response.status
        headers = response.headers
        metrics = response.metrics
    }
}
