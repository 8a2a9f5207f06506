internal import CNetCore

/// The C engine with its event loop thread. Releasing it never blocks: the loop ends the transfers in flight and frees
/// itself.
@safe final class Engine: Sendable {
    // SAFETY: include/netcore/engine.h: an engine is thread-safe and stays valid until its one release, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let shelf: TrustShelf

    /// Starts the event loop thread, which keeps `client` until it ends.
    init(_ options: Options, client: LoopClient) throws(NetError) {
        var error = nc_error()
        let shelf = TrustShelf()
        let trust = try shelf.trust(for: options.trust)
        try options.check()
        var made: OpaquePointer?
        let kept = unsafe Unmanaged.passRetained(client)
        let status = unsafe options.withDescription { settings in
            unsafe settings.trust = trust.raw
            unsafe settings.loop_client = client.cValue
            unsafe settings.trace = client.trace
            return unsafe nc_engine_new(&made, &settings, &error)
        }
        guard status == .NC_OK, let made = unsafe made else {
            unsafe kept.release()
            throw NetError(error)
        }
        unsafe raw = made
        self.shelf = shelf
    }

    deinit {
        unsafe nc_engine_release(raw)
    }

    /// Submits a request. The sink receives its end exactly once, unless this throws.
    func submit<Sink: TransferListener>(_ request: Request<Bytes>, to sink: Sink) throws(NetError) -> UInt64 {
        try request.checkBeforeSubmit()
        var id: UInt64 = 0
        var error = nc_error()
        let trust = try trust(for: request)
        let form = try request.body?.coreForm(feed: sink.feed)
        let expectation = try OwnedExpectation(request)
        let kept = unsafe Unmanaged.passRetained(sink)
        var target = unsafe sink.cValue(keptAs: kept)
        let status = unsafe request.withDescription(trust: trust, feed: sink.feed) { description in
            unsafe description.may_pause = Sink.mayPause
            unsafe description.multipart = form?.raw
            unsafe description.expectation = expectation.raw
            return unsafe nc_engine_submit(raw, &description, &target, &id, &error)
        }
        if status != .NC_OK {
            unsafe kept.release()
            throw NetError(error)
        }
        return id
    }

    /// Returns the policy of a request, or the engine's.
    func trust(for request: Request<Bytes>) throws(NetError) -> OwnedTrust? {
        // Most requests have none, and a policy is large.
        guard let said = request.kept.value.rare?.value.trust else { return shelf.defaultTrust }
        return try shelf.trust(for: said)
    }

    /// Changes the policy of later requests without their own.
    func setTrust(_ policy: TrustPolicy) throws(NetError) {
        try shelf.setDefault(policy)
    }

    /// Cancels a transfer. Does nothing if it has ended.
    func cancel(_ id: UInt64) {
        unsafe nc_engine_cancel(raw, id)
    }

    /// Pauses a transfer, independent of its reader and its body's source.
    func pause(_ id: UInt64) {
        unsafe nc_engine_pause(raw, id)
    }

    /// Removes one reason for a pause; the transfer resumes when none is left.
    func resume(_ id: UInt64, from reason: nc_rest) {
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

    /// Accepts no more requests; the loop ends with the last transfer in flight.
    func finish() {
        unsafe nc_engine_finish(raw)
    }

    /// Wakes the loop to run its client's jobs. Returns false if the loop has ended.
    func wake() -> Bool {
        unsafe nc_engine_wake(raw)
    }
}

/// Receives a transfer's events; the engine keeps it from submit until on_done.
protocol TransferListener: AnyObject, Sendable {
    /// Whether it may pause the transfer for a slow reader.
    static var mayPause: Bool { get }
    /// The source of the body, if it is produced while it is sent.
    var feed: BodyFeed? { get }
    /// The C value of the listener; on_done releases the reference `kept`.
    func cValue(keptAs kept: Unmanaged<Self>) -> nc_sink
}
