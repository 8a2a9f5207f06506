internal import CNetCore

/// The receiver of a download's events; the engine keeps it from start until on_done.
@safe final class DownloadSink: Sendable {
    typealias Outcome = Result<PooledResponse, NetError>

    private struct State: Sendable {
        var id: UInt64?
        var isCancelled = false
        var waiter: Waiter?
        var outcome: Outcome?
        /// The error of a hook that ended it.
        var refusal: NetError?
    }

    private enum Step: Sendable { case start, refuse }

    private let plan: DownloadPlan
    private let request: Request<Bytes>
    private let engine: Engine
    private let state = Lock(State())
    /// The heads that need a decision.
    private let (heads, headFeed) = AsyncStream.makeStream(of: (UInt64, ResponseHead).self)

    init(_ request: Request<Bytes>, plan: DownloadPlan, engine: Engine) {
        self.request = request
        self.plan = plan
        self.engine = engine
    }

    /// Starts the download and waits for its end.
    ///
    /// Destination closures run on behalf of the caller, with its priority and its task-local values. They are
    /// cancelled with it and with the end of the download.
    func outcome() async -> Outcome {
        guard isAsked else { return await run() }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await (id, head) in self.heads {
                    await self.place(id, head)
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

    /// Whether the head needs a decision.
    var isAsked: Bool { plan.isAsked || request.acceptedTypes != nil }

    private func start(for waiter: Waiter) {
        let step: Step = state.withLock { state in
            state.waiter = waiter
            return state.isCancelled ? .refuse : .start
        }
        if step == .refuse {
            end(with: .failure(NetError(.cancelled, "the task was cancelled before it was sent")))
            return
        }
        do throws(NetError) {
            plan.begins()
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

    /// Determines the destination. A result that comes after a cancellation is ignored.
    private func place(_ id: UInt64, _ head: ResponseHead) async {
        do throws(NetError) {
            try request.checkType(of: head)
            let place = try await plan.destination(for: head) ?? ""
            if !Task.isCancelled {
                engine.placeDownload(id, at: place)
            }
        } catch {
            guard !Task.isCancelled else { return }
            state.withLock { $0.refusal = error }
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
        plan.tell(.head(head.last))
        guard let tap = request.tap else { return }
        // The heads of followed redirects have no fields; the next hop has the target of each.
        for (hop, next) in zip(head.hops, head.hops.dropFirst()) {
            let redirect = ResponseHead(
                status: hop.status, headers: ["Location": next.url], httpVersion: hop.httpVersion, url: hop.url)
            tap.headArrived(redirect, false)
        }
        tap.headArrived(head.last, true)
    }

    fileprivate func resumed(offset: UInt64, total: UInt64) {
        plan.tell(.resumed(offset: Int(clamping: offset), total: total == .max ? nil : Int(clamping: total)))
    }

    fileprivate func asked(_ id: UInt64, _ head: ResponseHead) {
        headFeed.yield((id, head))
    }

    fileprivate func moved(_ progress: DownloadProgress) {
        plan.tell(.progress(progress))
        if let tell = request.progress {
            var transfer = TransferProgress()
            transfer.received = progress.received
            transfer.receiveTotal = progress.total
            transfer.bytesPerSecond = progress.bytesPerSecond
            transfer.timeLeft = progress.timeLeft
            tell(transfer)
        }
    }

    fileprivate func ended(_ outcome: Outcome, file: SavedFile?, partialPath: String, receivedBytes: Int) {
        let token =
            partialPath.isEmpty
            ? nil
            : ResumeToken(
                url: request.url.withoutUserinfo, path: plan.path, partialPath: partialPath,
                receivedBytes: receivedBytes)
        plan.ended(file: file, token: token)
        if let refusal = state.withLock({ $0.refusal }), case .failure(let error) = outcome {
            end(with: .failure(error.response.map { refusal.telling($0) } ?? refusal))
        } else {
            end(with: outcome)
        }
    }

    /// The C value of the listener; on_done releases the reference `kept`.
    func cValue(keptAs kept: Unmanaged<DownloadSink>) -> nc_download_sink {
        unsafe nc_download_sink(
            ctx: kept.toOpaque(), on_head: downloadHead, on_resumed: downloadResumed,
            on_destination: isAsked ? downloadAsked : nil, on_progress: downloadMoved,
            on_done: downloadDone)
    }
}

extension Request<Bytes> {
    /// Checks the content type before anything is written; the type of a 416 is that of its page.
    fileprivate func checkType(of head: ResponseHead) throws(NetError) {
        if head.status != 416 {
            var hop = HopMetrics()
            hop.url = head.url
            let response = Response<Bytes>(status: head.status, headers: head.headers, metrics: Metrics([hop]))
            try response.checkType(acceptedTypes)
        }
    }
}

extension DownloadProgress {
    fileprivate init(_ progress: nc_download_progress) {
        self.init()
        received = Int(clamping: progress.received_bytes)
        resumed = Int(clamping: progress.resumed_bytes)
        total = progress.total_bytes == .max ? nil : Int(clamping: progress.total_bytes)
        bytesPerSecond = Int(clamping: progress.bytes_per_s)
        timeLeft = progress.left_ms == .max ? nil : .milliseconds(Int64(clamping: progress.left_ms))
        activeSegments = Int(progress.active_segments)
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

private func downloadAsked(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ response: OpaquePointer) {
    unsafe sink(context)?.asked(id, ResponseHead(copying: response))
}

private func downloadMoved(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ progress: UnsafePointer<nc_download_progress>
) {
    unsafe sink(context)?.moved(DownloadProgress(progress.pointee))
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
    var file: SavedFile?
    if failure.status == .NC_OK {
        file = SavedFile(path: unsafe result.pointee.path.text, byteCount: bytes)
        file?.resumedBytes = Int(clamping: unsafe result.pointee.resumed_bytes)
    }
    // A status that is no success is a response for interceptors. A success that was not used for the file, such as 202
    // for a range request, ends the download. Otherwise its body would be written in the file's place.
    let isRefusal = failure.status == .NC_ERR_BAD_STATUS && !(200..<300).contains(failure.native_code)
    let isAnswer = failure.status == .NC_OK || isRefusal
    let outcome: DownloadSink.Outcome =
        if isAnswer, let received { .success(received) } else { .failure(NetError(failure, received: received)) }
    sink.ended(outcome, file: file, partialPath: unsafe result.pointee.partial_path.text, receivedBytes: bytes)
}
