import NetKit

extension Fetch {
    /// Downloads into a file, with resuming and checks.
    func download(
        _ download: DownloadJob, _ plan: Plan, _ account: inout Account, _ heads: inout [UInt8]
    ) async throws(Failure) {
        do throws(Failure) {
            try await save(download, plan, &account, &heads)
        } catch {
            try? await dump(heads)
            throw error
        }
        try await dump(heads)
    }

    /// Writes the heads to standard output for -D -; the body is written elsewhere.
    private func dump(_ heads: [UInt8]) async throws(Failure) {
        guard arguments.headPath == "-" else { return }
        await turn.take()
        defer { turn.give() }
        do throws(SystemError) {
            try Terminal.write(heads.span, to: Terminal.standardOutput)
        } catch {
            throw Failure(writing: error, to: nil)
        }
    }

    private func save(
        _ download: DownloadJob, _ plan: Plan, _ account: inout Account, _ heads: inout [UInt8]
    ) async throws(Failure) {
        if arguments.makesFolders {
            do throws(SystemError) {
                try OutputFile.makeFolders(of: download.path)
            } catch {
                throw Failure(writing: error, to: download.path)
            }
        }
        let request = shown(plan.request, name: download.path, counting: account.sent)
        let (console, isSilent) = (console, arguments.isSilent)
        let savedPath: String
        do throws(NetError) {
            // A symbolic link is kept, as for a body that is not resumed.
            let place = OutputFile.behindLinks(download.path)
            let response = try await agent.download(request, to: place, options: download.options) { event in
                if case .resumed(let offset, let total) = event, !isSilent {
                    console.say("nk: \(Self.line(offset: offset, total: total))")
                }
            }
            account.take(response)
            account.fileName = download.named(response.value.path)
            savedPath = response.value.path
            heads = Output.head(response.httpVersion, response.status, response.headers)
            say(Verbose.opening(of: plan, response.metrics, heads: [response.headers], isDownload: true))
            let fetched = response.value.byteCount - response.value.resumedBytes
            let (name, took) = (Verbose.printable(download.named(response.value.path)), account.took)
            console.end(job.index) { ProgressLine.end(name: name, bytes: fetched, took: took, width: $0) }
            say(Verbose.closing(of: response.metrics))
        } catch {
            account.take(error)
            console.end(job.index)
            if let response = error.serverResponse {
                heads = Output.head(response.httpVersion, response.status, response.headers)
            }
            let told = error.serverResponse.map { [$0.headers] } ?? []
            say(Verbose.opening(of: plan, error.metrics, heads: told, isDownload: true))
            say(Verbose.closing(of: error.metrics))
            throw Failure(saving: error)
        }
        try keepTime(account, of: savedPath)
    }

    private static func line(offset: Int, total: Int?) -> String {
        if offset == 0 {
            return "nothing of the partial file can be used; it begins anew"
        }
        let size = total.map { " of \(Format.size($0))" } ?? ""
        return "goes on at \(Format.size(offset))\(size)"
    }
}

extension Account {
    fileprivate mutating func take(_ response: Response<SavedFile>) {
        status = response.status
        headers = response.headers
        metrics = response.metrics
    }
}
