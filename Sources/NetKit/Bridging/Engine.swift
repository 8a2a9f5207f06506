internal import CNetCore

/// The C engine: one loop thread. Releasing it never blocks; the loop ends what is under way and frees itself.
@safe final class Engine: Sendable {
    // SAFETY: include/netcore/engine.h: an engine is thread-safe and stays valid until its one release, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let shelf: TrustShelf

    /// Starts the loop thread. It keeps `client` until it ends.
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

    /// Hands a request over; the sink hears of its end exactly once, unless this throws.
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

    /// The policy of a request, or the engine's.
    func trust(for request: Request<Bytes>) throws(NetError) -> OwnedTrust? {
        // Most say nothing, and a policy is large.
        guard let said = request.kept.value.rare?.value.trust else { return shelf.defaultTrust }
        return try shelf.trust(for: said)
    }

    /// Changes the policy of requests that bring none, from the next one on.
    func setTrust(_ policy: TrustPolicy) throws(NetError) {
        try shelf.setDefault(policy)
    }

    /// Asks for the end of a transfer; nothing happens when it has ended.
    func cancel(_ id: UInt64) {
        unsafe nc_engine_cancel(raw, id)
    }

    /// Holds a transfer up, whatever its reader and its body's source do.
    func pause(_ id: UInt64) {
        unsafe nc_engine_pause(raw, id)
    }

    /// Lets a transfer go on, as far as this was the reason why it rested.
    func resume(_ id: UInt64, from reason: nc_rest) {
        unsafe nc_engine_resume_from(raw, id, reason)
    }

    /// Gives the C engine to `body`, for the length of the call.
    func withRaw<Result, Failure: Error>(
        _ body: (OpaquePointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try unsafe body(raw)
    }

    /// Whether the caller runs on the loop thread.
    var isOnLoop: Bool {
        unsafe nc_engine_is_on_loop(raw)
    }

    /// Takes no more requests and lets the loop end with the last one under way.
    func finish() {
        unsafe nc_engine_finish(raw)
    }

    /// Asks the loop to run its client's jobs; false when the loop has ended.
    func wake() -> Bool {
        unsafe nc_engine_wake(raw)
    }
}

/// Hears of a transfer's events; the engine keeps it from submit until on_done.
protocol TransferListener: AnyObject, Sendable {
    /// Whether it lets the server wait for a reader.
    static var mayPause: Bool { get }
    /// Where the body comes from, when it is made while it is sent.
    var feed: BodyFeed? { get }
    /// The listener as C sees it; `kept` is the reference that on_done gives back.
    func cValue(keptAs kept: Unmanaged<Self>) -> nc_sink
}
