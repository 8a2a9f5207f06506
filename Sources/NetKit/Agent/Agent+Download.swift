#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Agent {
    /// Downloads a response's body to a file. Continues with the bytes of an earlier attempt that failed, was cancelled
    /// or was killed.
    ///
    ///     let file = try await agent.download(Request<Bytes>("film.mkv"), to: "/data/films/").value
    ///
    /// The file appears when it is complete; until then an existing file stays. When `path` is a directory, the name
    /// comes from Content-Disposition or the URL, made safe. The destination is the first of:
    /// 1. the result of the agent's ``Configuration/downloadDestination``
    /// 2. the result of `destination`
    /// 3. `path`
    ///
    /// The partial file NAME.part lies beside the destination, or in ``DownloadOptions/partialFolder``.
    ///
    /// A status other than 200 to 299 throws ``NetError/Code/unacceptableStatus`` with the response and its body. With
    /// a partial file, only status 200 is accepted besides 206. The partial file stays. When the task is cancelled, the
    /// call throws ``NetError/Code/cancelled`` as soon as the last checkpoint is written.
    /// - Parameters:
    ///   - request: the request to send.
    ///   - path: a file, or a directory for it.
    ///   - options: how the file is fetched and checked.
    ///   - events: receives the events, on the event loop thread; it must not block.
    ///   - destination: chooses the destination by the response head; `nil` stands for `path`.
    public func download(
        _ request: Request<some Sendable>, to path: String, options: DownloadOptions = DownloadOptions(),
        events: (@Sendable (DownloadEvent) -> Void)? = nil, destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<SavedFile> {
        try await download(request, by: plan(to: path, options, destination, events))
    }

    /// Continues the download of a resume token, to its original destination.
    public func download(
        _ request: Request<some Sendable>, resuming token: ResumeToken, options: DownloadOptions = DownloadOptions(),
        events: (@Sendable (DownloadEvent) -> Void)? = nil, destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<SavedFile> {
        try await download(
            request.resuming(token), to: token.path, options: options.resuming(token), events: events,
            destination: destination)
    }

    /// Starts a download that can be paused, observed, and cancelled with a resume token.
    public func startDownload(
        _ request: Request<some Sendable>, to path: String, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) -> Download {
        startDownload(request, to: path, options, destination, after: nil)
    }

    private func startDownload(
        _ request: Request<some Sendable>, to path: String, _ options: DownloadOptions,
        _ destination: DownloadDestination?, after token: ResumeToken?
    ) -> Download {
        let feed = DownloadFeed()
        let (progress, progressFeed) = AsyncStream.makeStream(
            of: DownloadProgress.self, bufferingPolicy: .bufferingNewest(1))
        let tell = { @Sendable (event: DownloadEvent) in
            feed.tell(event)
            if case .progress(let progress) = event {
                progressFeed.yield(progress)
            }
        }
        let plan = plan(to: path, options, destination, tell, after: token)
        let task = Task {
            defer {
                feed.finish()
                progressFeed.finish()
            }
            return try await download(request, by: plan)
        }
        return Download(task: task, plan: plan, events: feed.events, progress: progress)
    }

    /// Starts a download that continues from a resume token.
    public func startDownload(
        _ request: Request<some Sendable>, resuming token: ResumeToken, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) -> Download {
        startDownload(request.resuming(token), to: token.path, options.resuming(token), destination, after: token)
    }

    private func plan(
        to path: String, _ options: DownloadOptions, _ destination: DownloadDestination?,
        _ events: (@Sendable (DownloadEvent) -> Void)?, after token: ResumeToken? = nil
    ) -> DownloadPlan {
        let destinations = [configuration.downloadDestination, destination].compactMap { $0 }
        return DownloadPlan(path: path, options: options, destinations: destinations, tell: events, token: token)
    }

    private func download(
        _ request: Request<some Sendable>, by plan: DownloadPlan
    ) async throws(NetError) -> Response<SavedFile> {
        try enter(request)
        defer { flights.group.leave() }
        var request = request
        request.download = plan
        return try await saveThroughChain(request, to: plan.path)
    }

    // MARK: Partial downloads

    /// Returns the partial downloads in a directory.
    ///
    /// A record that another user could have written is left out.
    /// - Throws: ``NetError/Code/file`` for a directory that another user owns, or can write to unless it has the
    ///   sticky bit.
    @concurrent
    public func partialDownloads(in folder: String) async throws(NetError) -> [PartialDownload] {
        try PartialDownload.list(in: folder).found
    }

    @concurrent
    private func listing(in folder: String) async throws(NetError) -> sending PartialDownload.Listing {
        try PartialDownload.list(in: folder)
    }

    /// Removes the partial downloads of a directory that were last continued before `moment`; `nil` removes all of
    /// them. Active downloads stay.
    ///
    /// - Returns: the number of downloads that were removed.
    @concurrent
    @discardableResult
    public func purgePartialDownloads(in folder: String, olderThan moment: Date?) async throws(NetError) -> Int {
        try PartialDownload.purge(in: folder, before: moment)
    }

    /// Continues all inactive partial downloads of a directory, one after the other, to their original destinations.
    ///
    /// A record that another user could have written is not used. It is among the results with ``NetError/Code/file``,
    /// and only its ``PartialDownload/partialPath`` is known. Throws the same errors as ``partialDownloads(in:)``.
    /// - Parameters:
    ///   - folder: the directory.
    ///   - options: how the files are fetched and checked.
    ///   - request: creates the request of each download, for example to add fields; `nil` skips the download.
    public func resumePartialDownloads(
        in folder: String, options: DownloadOptions = DownloadOptions(),
        request: @Sendable (PartialDownload) -> Request<Bytes>? = { Request<Bytes>($0.url) }
    ) async throws(NetError) -> [(PartialDownload, Result<SavedFile, NetError>)] {
        let listing = try await listing(in: folder)
        var outcomes: [(PartialDownload, Result<SavedFile, NetError>)] = []
        for (partial, error) in listing.refused {
            outcomes.append((partial, .failure(error)))
        }
        for partial in listing.found where !partial.isActive {
            guard let request = request(partial) else { continue }
            do throws(NetError) {
                let response = try await download(request, resuming: partial.token, options: options)
                outcomes.append((partial, .success(response.value)))
            } catch {
                outcomes.append((partial, .failure(error)))
            }
        }
        return outcomes
    }
}

extension DownloadOptions {
    fileprivate func resuming(_ token: ResumeToken) -> DownloadOptions {
        var options = self
        options.partialFolder = token.folder
        return options
    }
}
