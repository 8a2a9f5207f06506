#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Agent {
    /// Downloads a response's body to a file, and goes on with what an earlier attempt fetched of it, whatever ended
    /// that: a failure, a cancellation, a kill.
    ///
    ///     let file = try await agent.download(Request<Bytes>("film.mkv"), to: "/data/films/").value
    ///
    /// The file appears whole or not at all; one that was there stays until then. When `path` is a directory the name
    /// comes from Content-Disposition or the URL, made harmless. The agent's
    /// ``Configuration/downloadDestination`` is asked first where the file goes, then `destination`; when neither says,
    /// it goes to `path`, near which (or in ``DownloadOptions/partialFolder``) NAME.part lies meanwhile.
    ///
    /// Another status than 200 to 299, or than 200 where a part is there, throws
    /// ``NetError/Code/unacceptableStatus`` with the response, body included; the part stays.
    /// When the task is cancelled it throws ``NetError/Code/cancelled`` as soon as what is there is proven.
    /// - Parameters:
    ///   - request: what to ask.
    ///   - path: a file, or a directory for it.
    ///   - options: how it is fetched and checked.
    ///   - events: hears of them on the loop thread, so it must not block.
    ///   - destination: says where the file goes, by the head; nil is `path`.
    public func download(
        _ request: Request<some Sendable>, to path: String, options: DownloadOptions = DownloadOptions(),
        events: (@Sendable (DownloadEvent) -> Void)? = nil, destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<SavedFile> {
        try await download(request, by: plan(to: path, options, destination, events))
    }

    /// Goes on with a download that left a token, into the place that it was for.
    public func download(
        _ request: Request<some Sendable>, resuming token: ResumeToken, options: DownloadOptions = DownloadOptions(),
        events: (@Sendable (DownloadEvent) -> Void)? = nil, destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<SavedFile> {
        try await download(
            request.resuming(token), to: token.path, options: options.resuming(token), events: events,
            destination: destination)
    }

    /// Starts a download that can be paused, watched and cancelled with a token.
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

    /// Starts where a token says.
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

    // MARK: The inventory

    /// The downloads in a directory that are not whole.
    ///
    /// A record that another user could have written is left out. Throws ``NetError/Code/file`` for a directory that
    /// other users own, or can write to unless it has the sticky bit.
    @concurrent
    public func partialDownloads(in folder: String) async throws(NetError) -> [PartialDownload] {
        try PartialDownload.list(in: folder).found
    }

    @concurrent
    private func listing(in folder: String) async throws(NetError) -> sending PartialDownload.Listing {
        try PartialDownload.list(in: folder)
    }

    /// Removes the partial downloads of a directory that were last gone on with before a moment, or all for nil; those
    /// that somebody is at stay.
    ///
    /// Returns how many went.
    @concurrent
    @discardableResult
    public func purgePartialDownloads(in folder: String, olderThan moment: Date?) async throws(NetError) -> Int {
        try PartialDownload.purge(in: folder, before: moment)
    }

    /// Goes on with all partial downloads of a directory that nobody is at, one after the other, into the places that
    /// they were for.
    ///
    /// A record that another user could have written is not followed: it is among the results with
    /// ``NetError/Code/file``, and nothing but its ``PartialDownload/partialPath`` is known. Throws as
    /// ``partialDownloads(in:)``.
    /// - Parameters:
    ///   - folder: the directory.
    ///   - options: how they are fetched and checked.
    ///   - request: makes the request of each, for those that need fields of their own; nil leaves one out.
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
