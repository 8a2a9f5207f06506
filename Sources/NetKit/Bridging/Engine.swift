internal import CNetCore

/// The C engine: one loop thread. Releasing it never blocks; the loop ends what is under way and frees itself.
@safe final class Engine: Sendable {
    /// How an engine is made.
    struct Options {
        var maxInFlight: UInt32
        var maxPerHost: UInt32
        var maxStreams: UInt32
        var maxIdleConnections: UInt32
        var maxWaiting: UInt32
        var trust: TrustPolicy
    }

    // SAFETY: include/netcore/engine.h: an engine is thread-safe and stays valid until its one release, in deinit.
    private nonisolated(unsafe) let raw: OpaquePointer

    /// Starts the loop thread. It keeps `client` until it ends.
    init(_ options: Options, client: LoopClient) throws(NetError) {
        var error = nc_error()
        let trust = try OwnedTrust(options.trust)
        var made: OpaquePointer?
        var settings = unsafe nc_engine_options()
        unsafe settings.max_in_flight = options.maxInFlight
        unsafe settings.max_per_host = options.maxPerHost
        unsafe settings.max_streams = options.maxStreams
        unsafe settings.max_idle_connections = options.maxIdleConnections
        unsafe settings.max_waiting = options.maxWaiting
        unsafe settings.trust = trust.raw
        unsafe settings.loop_client = client.cValue
        let kept = unsafe Unmanaged.passRetained(client)
        let status = unsafe nc_engine_new(&made, &settings, &error)
        guard status == .NC_OK, let made = unsafe made else {
            unsafe kept.release()
            throw NetError(error)
        }
        unsafe raw = made
    }

    deinit {
        unsafe nc_engine_release(raw)
    }

    /// Hands a request over; the sink hears of its end exactly once, unless this throws.
    func submit(_ request: Request<Bytes>, to sink: TransferSink) throws(NetError) -> UInt64 {
        // In the core an empty method means GET.
        if request.method.rawValue.isEmpty {
            throw NetError(.badMethod, "the method is empty", offset: 0)
        }
        var id: UInt64 = 0
        var error = nc_error()
        let trust = try OwnedTrust(request.trust)
        let kept = unsafe Unmanaged.passRetained(sink)
        var target = unsafe sink.cValue(keptAs: kept)
        let status = unsafe request.withDescription(trust: trust) { description in
            unsafe nc_engine_submit(raw, &description, &target, &id, &error)
        }
        if status != .NC_OK {
            unsafe kept.release()
            throw NetError(error)
        }
        return id
    }

    /// Asks for the end of a transfer; nothing happens when it has ended.
    func cancel(_ id: UInt64) {
        unsafe nc_engine_cancel(raw, id)
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
