#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Agent {
    /// Downloads a response's body to a file. If an earlier attempt failed, was cancelled, or ended with its process,
    /// the download continues after the bytes that it received.
    ///
    ///     let file = try await agent.download(Request<Bytes>("film.mkv"), to: "/data/films/").value
    ///
    /// The file appears when it is complete. Until then a file that exists there is not changed. The destination is the
    /// first of these that is not `nil`:
    /// 1. the result of the agent's ``Configuration/downloadDestination``
    /// 2. the result of `destination`
    /// 3. `path`
    ///
    /// If `path` is a directory, the file name comes from Content-Disposition or from the URL. Unsafe characters in it
    /// are replaced. The received bytes are first written to the partial file NAME.part, which is beside the
    /// destination or in ``DownloadOptions/partialFolder``.
    ///
    /// A status other than 200 to 299 throws ``NetError/Code/status`` with the response and its body. If a
    /// partial file exists, only the statuses 200 and 206 are accepted; the partial file stays after another status.
    /// If the task is cancelled, the call throws ``NetError/Code/cancelled`` as soon as the last checkpoint is written.
    /// ``NetError/resumeToken`` of an error continues the download later.
    ///
    /// A download that is not resumable (``DownloadOptions/isResumable``) leaves no partial file, has any method, and
    /// replaces an existing file. The replaced file's permissions are kept, and its owner if the system allows it. A
    /// request with a JSON ``Request/expectation`` is not resumable.
    ///
    /// The body always comes from the network and is never stored in a cache (``Caching``). A request without limits
    /// gets ``Configuration/streamLimits``. To start a download in the background or in a ``Batch``, use ``Download``.
    /// - Parameters:
    ///   - call: the request, or a value that creates one.
    ///   - path: the path of the file, or of a directory for it: a `String` or a `URL`.
    ///   - options: how the file is fetched and checked.
    ///   - destination: chooses the destination from the response head. If it is or returns `nil`, `path` applies.
    public func download(
        _ call: some RequestConvertible, to path: some URLConvertible, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<DownloadedFile> {
        try await send(Download(call, to: path, options: options, destination: destination))
    }

    /// Downloads a file with a GET request. Otherwise this function works like the one for a request.
    ///
    ///     try await agent.download("large.iso", to: "/tmp/large.iso", checksum: .sha256("9f86d081…"))
    ///
    /// - Parameters:
    ///   - source: a path relative to ``Configuration/baseURL``, or a URL.
    ///   - path: the path of the file, or of a directory for it: a `String` or a `URL`.
    ///   - query: the query, as for ``get``.
    ///   - headers: the header fields.
    ///   - credentials: the credentials.
    ///   - timeout: the total time; `nil` for that of ``Configuration/streamLimits``.
    ///   - redirects: what happens to redirects. A redirect that is returned fails the download with its status.
    ///   - retries: whether and how the request is sent again after a temporary failure; see ``Request/retries``.
    ///   - resume: whether an earlier, incomplete download is resumed.
    ///   - overwrite: whether an existing file is replaced; see ``DownloadOptions/overwrite``.
    ///   - checksum: the expected checksum of the file.
    ///   - segments: the number of segments to download concurrently; see ``DownloadOptions/segments``.
    ///   - maxBytes: the largest length of the file; `nil` for that of ``Configuration/streamLimits``.
    ///   - progress: receives the progress; see ``Request/progress``.
    @discardableResult
    public func download(
        _ source: some URLConvertible, to path: some URLConvertible, query: ParameterList? = nil,
        headers: Headers = [:], credentials: Credentials = .inherited, timeout: Duration? = nil,
        redirects: RedirectPolicy = .inherited, retries: RetryPolicy = .inherited, resume: Bool = true,
        overwrite: Bool? = nil, checksum: Checksum? = nil, segments: Int = 1, maxBytes: Int? = nil,
        progress: ProgressHandler? = nil
    ) async throws(NetError) -> Response<DownloadedFile> {
        var request = Request<Bytes>(source, query: query, headers: headers)
        CallOptions(headers, credentials, .inherited, timeout, redirects, retries, .automatic, progress)
            .apply(to: &request)
        if let maxBytes {
            request.limits.maxBodyBytes = maxBytes
        }
        var options = DownloadOptions()
        options.resume = resume
        options.overwrite = overwrite
        options.checksums = checksum.map { [$0] } ?? []
        options.segments = segments
        return try await download(request, to: path, options: options)
    }

    /// Continues the download that a resume token belongs to, to its original destination.
    public func download(
        _ call: some RequestConvertible, resuming token: ResumeToken, options: DownloadOptions = DownloadOptions(),
        destination: DownloadDestination? = nil
    ) async throws(NetError) -> Response<DownloadedFile> {
        try await send(Download(call, resuming: token, options: options, destination: destination))
    }

    /// Runs the call of a download that is not listed, or whose request task has begun.
    func download(
        _ request: Request<some Sendable>, to target: DownloadTarget
    ) async throws(NetError) -> Response<DownloadedFile> {
        var request = request
        guard target.options.isResumable, request.expectation == nil else {
            request.downloadTarget = nil
            return try await saveThroughChain(request, to: target.path)
        }
        let destinations = [configuration.downloadDestination, target.destination].compactMap { $0 }
        let plan = DownloadPlan(
            path: target.path, options: target.options, destinations: destinations, token: target.token)
        request.download = plan
        request.downloadTarget = nil
        request.transferHandle?.follow(plan)
        do throws(NetError) {
            return try await saveThroughChain(request, to: plan.path)
        } catch {
            throw plan.token.map(error.attaching) ?? error
        }
    }

    // MARK: Partial downloads

    /// Returns the partial downloads in a directory.
    ///
    /// A partial download whose record another user could have written is left out.
    /// - Throws: ``NetError/Code/file`` for a directory that another user owns. The same for one that another user can
    ///   write to, unless it has the sticky bit.
    @concurrent
    public func partialDownloads(in folder: some URLConvertible) async throws(NetError) -> [PartialDownload] {
        try PartialDownload.list(in: folder.filePath).found
    }

    @concurrent
    private func listing(in folder: String) async throws(NetError) -> sending PartialDownload.Listing {
        try PartialDownload.list(in: folder)
    }

    /// Removes the partial downloads of a directory that were last continued before `moment`. If `moment` is `nil`, it
    /// removes all of them. Active downloads stay.
    ///
    /// - Returns: the number of downloads that were removed.
    @concurrent
    @discardableResult
    public func purgePartialDownloads(in folder: some URLConvertible, olderThan moment: Date?) async throws(NetError)
        -> Int
    {
        try PartialDownload.purge(in: folder.filePath, before: moment)
    }

    /// Continues all inactive partial downloads of a directory, one after the other, to their original destinations.
    ///
    /// A partial download whose record another user could have written is not continued. Its result is
    /// ``NetError/Code/file``, and only its ``PartialDownload/partialPath`` is set. Throws the same errors as
    /// ``partialDownloads(in:)``.
    /// - Parameters:
    ///   - folder: the directory.
    ///   - options: how the files are fetched and checked.
    ///   - request: creates the request of each download, for example to add fields; `nil` skips the download.
    public func resumePartialDownloads(
        in folder: some URLConvertible, options: DownloadOptions = DownloadOptions(),
        request: @Sendable (PartialDownload) -> Request<Bytes>? = { Request<Bytes>($0.url) }
    ) async throws(NetError) -> [(PartialDownload, Result<DownloadedFile, NetError>)] {
        let listing = try await listing(in: folder.filePath)
        var outcomes: [(PartialDownload, Result<DownloadedFile, NetError>)] = []
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
