internal import CNetCore

/// The C engine with its event loop thread. Releasing it never blocks: the event loop thread cancels the transfers in
/// flight, then ends and frees the engine.
@safe final class Engine: Sendable {
    // SAFETY: include/netcore/engine.h: an engine is thread-safe and stays valid until it is released, which happens
    // once, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let trustCache: TrustCache

    /// Creates the engine and starts its event loop thread, which references `client` until the thread ends.
    init(_ options: Options, client: LoopClient) throws(NetError) {
        var error = nc_error()
        let trustCache = TrustCache()
        let trust = try trustCache.trust(for: options.trust)
        try options.check()
        var created: OpaquePointer?
        let retained = unsafe Unmanaged.passRetained(client)
        let status = unsafe options.withDescription { settings in
            unsafe settings.trust = trust.raw
            unsafe settings.loop_client = client.cValue
            unsafe settings.trace = client.trace
            return unsafe nc_engine_new(&created, &settings, &error)
        }
        guard status == .NC_OK, let created = unsafe created else {
            unsafe retained.release()
            throw NetError(error)
        }
        unsafe raw = created
        self.trustCache = trustCache
    }

    deinit {
        unsafe nc_engine_release(raw)
    }

    /// Submits a request. Unless this throws, the sink receives the end of the transfer exactly once.
    func submit<Sink: TransferListener>(_ request: Request<Bytes>, to sink: Sink) throws(NetError) -> UInt64 {
        try request.checkBeforeSubmit()
        var id: UInt64 = 0
        var error = nc_error()
        let trust = try trust(for: request)
        let form = try request.body?.coreForm(feed: sink.feed)
        let expectation = try OwnedExpectation(request)
        let retained = unsafe Unmanaged.passRetained(sink)
        var target = unsafe sink.cValue(retainedAs: retained)
        let status = unsafe request.withDescription(trust: trust, feed: sink.feed) { description in
            unsafe description.may_pause = sink.mayPause
            unsafe description.multipart = form?.raw
            unsafe description.expectation = expectation.raw
            return unsafe nc_engine_submit(raw, &description, &target, &id, &error)
        }
        if status != .NC_OK {
            unsafe retained.release()
            throw NetError(error)
        }
        return id
    }

    /// Returns the trust policy of a request or, if it has none, that of the engine.
    func trust(for request: Request<Bytes>) throws(NetError) -> OwnedTrust? {
        // Reading the optional storage avoids a copy of the policy, which is large. Most requests have none.
        guard let requestPolicy = request.storage.value.optionalStorage?.value.trust else {
            return trustCache.defaultTrust
        }
        return try trustCache.trust(for: requestPolicy)
    }

    /// Changes the engine's trust policy, for requests that are submitted later.
    func setTrust(_ policy: TrustPolicy) throws(NetError) {
        try trustCache.setDefault(policy)
    }

    /// Cancels a transfer. Does nothing if it has ended.
    func cancel(_ id: UInt64) {
        unsafe nc_engine_cancel(raw, id)
    }

    /// Pauses a transfer at the caller's request. A slow reader and a slow body source are separate reasons for a
    /// pause.
    func pause(_ id: UInt64) {
        unsafe nc_engine_pause(raw, id)
    }

    /// Removes one reason for a pause. The transfer resumes when no reason is left.
    func resume(_ id: UInt64, from reason: nc_pause_reason) {
        unsafe nc_engine_resume_from(raw, id, reason)
    }

    /// Calls `body` with the C engine, which is valid during the call.
    func withRaw<Result, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(raw)
    }

    /// Whether the caller runs on the event loop thread.
    var isOnLoop: Bool {
        unsafe nc_engine_is_on_loop(raw)
    }

    /// Refuses further requests. The event loop ends when the last transfer in flight has ended.
    func finish() {
        unsafe nc_engine_finish(raw)
    }

    /// Wakes the event loop, so that it runs the jobs of its ``LoopClient``. Returns false if the loop has ended.
    func wake() -> Bool {
        unsafe nc_engine_wake(raw)
    }
}

/// Receives the events of one transfer. The engine references it from the submission until on_done.
protocol TransferListener: AnyObject, Sendable {
    /// Whether the listener may pause the transfer for long because its reader is slow.
    var mayPause: Bool { get }
    /// The feed of the request's body, if the body has a producer.
    var feed: BodyFeed? { get }
    /// The C value of the listener. on_done releases the reference `retained`.
    func cValue(retainedAs retained: Unmanaged<Self>) -> nc_sink
}

/// The version of NetKit, as the C core reports it.
enum LibraryVersion {
    static var text: String { unsafe String(cString: nc_version()) }
}

extension Engine {
    /// Prevents waiting transfers from starting, or permits them to start again.
    func setSuspended(_ isSuspended: Bool) {
        unsafe withRaw { unsafe nc_engine_set_suspended($0, isSuspended) }
    }

    /// Changes the priority of a waiting transfer.
    func setPriority(_ priority: Priority, of id: UInt64) {
        unsafe withRaw { unsafe nc_engine_set_priority($0, id, priority.cValue) }
    }

    /// The operations with which a ``TransferHandle`` controls its transfers.
    var operations: TransferHandle.Operations {
        TransferHandle.Operations(
            setPaused: { [self] in $1 ? pause($0) : resume($0, from: .NC_PAUSE_EXPLICIT) },
            setPriority: { [self] in setPriority($1, of: $0) })
    }

    /// Returns the transfers that have not ended. A transfer that ends during the call is left out.
    func transfers() -> [TransferInfo] {
        var capacity = 64
        while true {
            var count = 0
            let listed = unsafe withRaw { raw in
                unsafe [nc_transfer_info](unsafeUninitializedCapacity: capacity) { buffer, filled in
                    count = unsafe nc_engine_list(raw, buffer.baseAddress, capacity)
                    filled = min(count, capacity)
                }
            }
            if count <= capacity {
                return listed.compactMap { info in url(of: info.id).map { TransferInfo(info, url: $0) } }
            }
            capacity = count + count / 4
        }
    }

    /// Returns the URL of a transfer, or `nil` if it has ended.
    private func url(of id: UInt64) -> String? {
        var buffer = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) * 2)
        defer { unsafe nc_buf_deinit(&buffer) }
        let status = unsafe withRaw { unsafe nc_engine_describe($0, id, &buffer) }
        return status == .NC_OK ? unsafe nc_buf_slice(&buffer).text : nil
    }

    /// Returns the cookies in the jar as lines of the Netscape format. Does not wait for the event loop.
    func copyCookies() throws(NetError) -> [UInt8] {
        var buffer = unsafe nc_buf_init(64 << 20)
        defer { unsafe nc_buf_deinit(&buffer) }
        var error = nc_error()
        let status = unsafe withRaw { unsafe nc_engine_copy_cookies($0, &buffer, &error) }
        if status != .NC_OK {
            throw NetError(error)
        }
        return unsafe nc_buf_slice(&buffer).withSpan { span in span.indices.map { span[$0] } }
    }

    /// Adds cookies, as lines of the Netscape format. If `lines` is empty, removes all cookies.
    func setCookies(_ lines: [UInt8]) throws(NetError) {
        var error = nc_error()
        let status = unsafe Bytes(lines).withSlice { lines in
            unsafe withRaw { unsafe nc_engine_set_cookies($0, lines, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
    }
}

extension TransferInfo {
    fileprivate init(_ info: nc_transfer_info, url: String) {
        self.init(
            id: info.id, state: State(info.state), priority: Priority(info.priority), isPaused: info.is_paused,
            age: .nanoseconds(Int64(clamping: info.age_ns)), sentBytes: Int(clamping: info.sent_bytes),
            receivedBytes: Int(clamping: info.received_bytes), url: url)
    }
}

extension TransferInfo.State {
    fileprivate init(_ state: nc_transfer_state) {
        switch state {
        case .NC_TRANSFER_CONNECTING: self = .connecting
        case .NC_TRANSFER_SENDING: self = .sending
        case .NC_TRANSFER_AWAITING_REPLY: self = .awaitingReply
        case .NC_TRANSFER_RECEIVING: self = .receiving
        default: self = .waiting
        }
    }
}

/// A snapshot of the cookies in an engine's jar.
@safe final class EngineCookieSnapshot: CookieSnapshot {
    // SAFETY: include/netcore/cookies.h: a snapshot never changes and is thread-safe. It is released in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    init(_ raw: OpaquePointer) {
        unsafe self.raw = raw
    }

    deinit {
        unsafe nc_cookie_snapshot_release(raw)
    }

    func shown(to hosts: Set<String>) throws(NetError) -> [[UInt8]] {
        var sentCookies: Set<[UInt8]> = []
        for host in hosts {
            var buffer = unsafe nc_buf_init(16 << 20)
            defer { unsafe nc_buf_deinit(&buffer) }
            var error = nc_error()
            let status = unsafe host.withSlice { unsafe nc_cookie_snapshot_append(raw, $0, &buffer, &error) }
            if status != .NC_OK {
                throw NetError(error)
            }
            let bytes = unsafe nc_buf_slice(&buffer).withSpan { span in span.indices.map { span[$0] } }
            sentCookies.formUnion(bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) })
        }
        return sentCookies.sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension Engine {
    /// Returns a snapshot of the cookie jar. This is cheap even for a full jar.
    func snapshotCookies() throws(NetError) -> EngineCookieSnapshot {
        var snapshot: OpaquePointer?
        var error = nc_error()
        let status = unsafe withRaw { unsafe nc_engine_snapshot_cookies($0, &snapshot, &error) }
        guard status == .NC_OK, let snapshot = unsafe snapshot else { throw NetError(error) }
        return unsafe EngineCookieSnapshot(snapshot)
    }
}
