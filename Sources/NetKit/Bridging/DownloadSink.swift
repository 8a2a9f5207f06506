internal import CNetCore

/// Receives the events of one download from the C core. The engine references it from the start until on_done.
@safe final class DownloadSink: Sendable {
    typealias Outcome = Result<PooledResponse, NetError>

    private struct State: Sendable {
        var id: UInt64?
        var isCancelled = false
        var waiter: Waiter?
        var outcome: Outcome?
        /// The error of a hook that ended the download.
        var hookError: NetError?
    }

    private enum Step: Sendable { case start, refuse }

    private let plan: DownloadPlan
    private let request: Request<Bytes>
    private let engine: Engine
    private let state = Lock(State())
    /// The response heads for which a destination must be chosen, with the numbers of their downloads.
    private let (heads, headFeed) = AsyncStream.makeStream(of: (UInt64, ResponseHead).self)

    init(_ request: Request<Bytes>, plan: DownloadPlan, engine: Engine) {
        self.request = request
        self.plan = plan
        self.engine = engine
    }

    /// Starts the download and waits for its end.
    ///
    /// Destination closures run in a child task of the caller, with its priority and task-local values. They are
    /// cancelled when the caller is cancelled, and when the download ends.
    func outcome() async -> Outcome {
        guard needsDecision else { return await run() }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await (id, head) in self.heads {
                    await self.chooseDestination(id, head)
                }
            }
            defer { group.cancelAll() }
            return await run()
        }
    }

    private func run() async -> Outcome {
        await cancelling({ cancel() }) { await Waiter.wait { start(for: $0) } }
        return state.withLock { $0.outcome } ?? .failure(NetError(.internal, "a download was resumed before its end"))
    }

    /// Whether the response head must be checked before the body is written.
    var needsDecision: Bool { plan.needsDecision || request.acceptedTypes != nil }

    private func start(for waiter: Waiter) {
        let step: Step = state.withLock { state in
            state.waiter = waiter
            return state.isCancelled ? .refuse : .start
        }
        if step == .refuse {
            end(with: .failure(NetError(.cancelled, "cancelled before the request was sent")))
            return
        }
        do throws(NetError) {
            plan.prepareAttempt()
            let id = try engine.start(request, plan: plan, for: self)
            let isCancelled = state.withLock { state in
                state.id = id
                return state.isCancelled
            }
            if isCancelled {
                engine.cancelDownload(id)
            }
        } catch {
            end(with: .failure(error))
        }
    }

    /// Checks the content type and chooses the destination. If the task is cancelled meanwhile, the result is ignored.
    private func chooseDestination(_ id: UInt64, _ head: ResponseHead) async {
        do throws(NetError) {
            try request.checkType(of: head)
            let destinationPath = try await plan.destination(for: head) ?? ""
            if !Task.isCancelled {
                engine.setDownloadDestination(id, at: destinationPath)
            }
        } catch {
            guard !Task.isCancelled else { return }
            state.withLock { $0.hookError = error }
            engine.cancelDownload(id)
        }
    }

    private func cancel() {
        let id = state.withLock { state in
            state.isCancelled = true
            return state.id
        }
        if let id {
            engine.cancelDownload(id)
        }
    }

    private func end(with outcome: Outcome) {
        let waiter = state.withLock { state in
            state.outcome = outcome
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    // MARK: Events, on the event loop thread

    fileprivate func began(_ id: UInt64, _ head: StreamHead) {
        guard let transferObserver = request.transferObserver else { return }
        // The core does not keep the fields of followed redirects. Their Location is the URL of the next hop.
        for (hop, next) in zip(head.hops, head.hops.dropFirst()) {
            let redirect = ResponseHead(
                status: hop.status, headers: ["Location": next.url], httpVersion: hop.httpVersion, url: hop.url)
            transferObserver.headArrived(redirect, false)
        }
        transferObserver.headArrived(head.last, true)
    }

    fileprivate func resumed(offset: UInt64, total: UInt64) {
        request.transferObserver?.downloadResumed(
            Int(clamping: offset), total == .max ? nil : Int(clamping: total))
    }

    fileprivate func destinationNeeded(_ id: UInt64, _ head: ResponseHead) {
        headFeed.yield((id, head))
    }

    fileprivate func progressed(_ progress: nc_download_progress) {
        request.progress?(TransferProgress(progress))
    }

    fileprivate func ended(_ outcome: Outcome, file: DownloadedFile?, partialPath: String, receivedBytes: Int) {
        let token =
            partialPath.isEmpty
            ? nil
            : ResumeToken(
                url: request.url.withoutUserinfo, path: plan.path, partialPath: partialPath,
                receivedBytes: receivedBytes)
        plan.ended(file: file, token: token)
        if let hookError = state.withLock({ $0.hookError }), case .failure(let error) = outcome {
            end(with: .failure(error.response.map { hookError.attaching($0) } ?? hookError))
        } else {
            end(with: outcome)
        }
    }

    /// The C value of the listener. on_done releases the reference `retained`.
    func cValue(retainedAs retained: Unmanaged<DownloadSink>) -> nc_download_sink {
        unsafe nc_download_sink(
            ctx: retained.toOpaque(), on_head: downloadHead, on_resumed: downloadResumed,
            on_destination: needsDecision ? downloadDestinationNeeded : nil, on_progress: downloadProgressed,
            on_done: downloadDone)
    }
}

extension Request<Bytes> {
    /// Checks the content type before anything is written. The type of a 416 response is not checked, because it is the
    /// type of an error page.
    fileprivate func checkType(of head: ResponseHead) throws(NetError) {
        if head.status != 416 {
            var hop = HopMetrics()
            hop.url = head.url
            let response = Response<Bytes>(status: head.status, headers: head.headers, metrics: Metrics([hop]))
            try response.checkType(acceptedTypes)
        }
    }
}

extension TransferProgress {
    fileprivate init(_ progress: nc_download_progress) {
        self.init()
        received = Int(clamping: progress.received_bytes)
        resumed = Int(clamping: progress.resumed_bytes)
        receiveTotal = progress.total_bytes == .max ? nil : Int(clamping: progress.total_bytes)
        bytesPerSecond = Int(clamping: progress.bytes_per_s)
        timeLeft = progress.left_ms == .max ? nil : .milliseconds(Int64(clamping: progress.left_ms))
    }
}

private func sink(_ context: UnsafeMutableRawPointer?) -> DownloadSink? {
    guard let context = unsafe context else { return nil }
    return unsafe Unmanaged<DownloadSink>.fromOpaque(context).takeUnretainedValue()
}

private func downloadHead(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer) {
    unsafe sink(context)?.began(id, StreamHead(copying: response, after: []))
}

private func downloadResumed(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ offset: UInt64, _ total: UInt64) {
    unsafe sink(context)?.resumed(offset: offset, total: total)
}

private func downloadDestinationNeeded(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer) {
    unsafe sink(context)?.destinationNeeded(id, ResponseHead(copying: response))
}

private func downloadProgressed(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ progress: UnsafePointer<nc_download_progress>
) {
    unsafe sink(context)?.progressed(progress.pointee)
}

private func downloadDone(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer?,
    _ result: UnsafePointer<nc_download_result>, _ error: UnsafePointer<nc_error>
) {
    guard let context = unsafe context else { return }
    let sink = unsafe Unmanaged<DownloadSink>.fromOpaque(context).takeRetainedValue()
    let received = unsafe response.map { unsafe PooledResponse(retaining: $0) }
    let failure = unsafe error.pointee
    let bytes = Int(clamping: unsafe result.pointee.byte_count)
    var file: DownloadedFile?
    if failure.status == .NC_OK {
        file = DownloadedFile(path: unsafe result.pointee.path.text, byteCount: bytes)
        file?.resumedBytes = Int(clamping: unsafe result.pointee.resumed_bytes)
    }
    // A response with an error status is passed on to interceptors. A success status that the core did not accept for
    // the file, such as 202 for a range request, is an error, because otherwise its body would be taken for the file.
    let isErrorStatus = failure.status == .NC_ERR_BAD_STATUS && !(200..<300).contains(failure.native_code)
    let isResponse = failure.status == .NC_OK || isErrorStatus
    let outcome: DownloadSink.Outcome =
        if isResponse, let received { .success(received) } else { .failure(NetError(failure, received: received)) }
    sink.ended(outcome, file: file, partialPath: unsafe result.pointee.partial_path.text, receivedBytes: bytes)
}
