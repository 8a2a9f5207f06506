/// The points of a call at which an app may put in a word: CTNetworking's, as closures.
///
///     var hooks = CallHooks()
///     hooks.shouldCall = { _ in !isSleeping }
///     hooks.afterFailure = { call, error in log(call.id, error) }
///     configuration.interceptors = [ReformParameters { … }, hooks, ValidateParameters { … }]
///
/// In the order of a call: ``shouldCall`` where it stands among the interceptors; ``afterCalling`` when the request has
/// been handed to the transport; ``didReceive`` when it is known how the call ends, behind statuses and decoding;
/// ``beforeSuccess`` or ``beforeFailure``; the caller is told; ``afterSuccess`` or ``afterFailure``. A call that a hook
/// stops ends with ``NetError/Code/stoppedByCaller``, and no later hook hears of it. A streamed body is a success when
/// its head is there, and told when it is read. Closures that watch must not block.
public struct CallHooks: Interceptor {
    /// Whether the call may go on; false stops it, and an error is its end: a ``NetError`` as it is, anything else under
    /// ``NetError/Code/stoppedByCaller``.
    public var shouldCall: (@Sendable (Call) async throws -> Bool)?
    /// The request was handed to the transport, for the first time.
    public var afterCalling: (@Sendable (Call) -> Void)?
    /// It is known how the call ends, well or not.
    public var didReceive: (@Sendable (Call, Event.Outcome) -> Void)?
    /// Whether the caller may have the response; false stops the call.
    public var beforeSuccess: (@Sendable (Call, Response<Bytes>) async throws -> Bool)?
    /// The caller was told of the response.
    public var afterSuccess: (@Sendable (Call, Response<Bytes>) -> Void)?
    /// Whether the caller may hear of the failure; false stops the call, and the failure is ``NetError/underlying``.
    public var beforeFailure: (@Sendable (Call, NetError) async throws -> Bool)?
    /// The caller was told of the failure.
    public var afterFailure: (@Sendable (Call, NetError) -> Void)?
    private let calls = HookedCalls()

    /// No hooks.
    public init() {}

    /// Lets nothing be sent while there is no network: such calls end with ``NetError/Code/unreachable``.
    public static func online(_ isOnline: @escaping @Sendable () async -> Bool) -> CallHooks {
        var hooks = CallHooks()
        hooks.shouldCall = { _ in
            guard await isOnline() else { throw NetError(.unreachable, "there is no network") }
            return true
        }
        return hooks
    }

    /// Lets the call go on if it may.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        calls.enter(call)
        try await ask("the call", nil) { try await shouldCall?(call) ?? true }
        return try await next(call)
    }

    private func ask(
        _ what: String, _ cause: NetError?, response: Response<Bytes>? = nil, _ mayGoOn: () async throws -> Bool
    ) async throws(NetError) {
        do {
            guard try await !mayGoOn() else { return }
        } catch {
            throw NetError(asking: error, .stoppedByCaller, "a hook stopped \(what)", response: response)
        }
        throw NetError(.stoppedByCaller, "a hook stopped \(what)", response: response, underlying: cause)
    }
}

extension CallHooks: CallEnding {
    func mayEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError) {
        didReceive?(call, outcome)
        switch outcome {
        case .answered(let response):
            try await ask("the response", nil, response: response) { try await beforeSuccess?(call, response) ?? true }
        case .failed(let failure):
            try await ask("the failure", failure, response: failure.response) {
                try await beforeFailure?(call, failure) ?? true
            }
        }
        calls.enter(call)
    }
}

extension CallHooks: Observer {
    /// Tells those hooks that watch.
    public func observe(_ event: Event) {
        switch event.change {
        case .exchangeStarted(1):
            if let call = calls.update(event.callID, { $0.request = event.request }) {
                afterCalling?(call)
            }
        case .stopping(let outcome):
            calls.stopping(event.callID, outcome)
        case .stopped:
            guard let (call, outcome) = calls.leave(event.callID) else { return }
            // Blocks and delegates of a start hear of it later than the task that waits.
            if let ticket = call.request.ticket, ticket.id == call.id,
                ticket.whenTold({ tellAfterwards(call, outcome) })
            {
                return
            }
            tellAfterwards(call, outcome)
        default:
            break
        }
    }
}

extension CallHooks {
    private func tellAfterwards(_ call: Call, _ outcome: Event.Outcome) {
        switch outcome {
        case .answered(let response): afterSuccess?(call, response)
        case .failed(let error) where error.code != .stoppedByCaller: afterFailure?(call, error)
        default: break
        }
    }
}

/// The calls that are under way with hooks.
private final class HookedCalls: Sendable {
    private struct Entry: Sendable {
        var call: Call
        var outcome: Event.Outcome?
    }

    private let entries = Lock<[UInt64: Entry]>([:])

    /// Takes note of a call as it is now, unless nobody will tell of its end.
    func enter(_ call: Call) {
        guard let watch = call.watch else { return }
        let isNew = entries.withLock { entries in
            let known = entries[call.id]
            entries[call.id] = Entry(call: call, outcome: known?.outcome)
            return known == nil
        }
        // It has ended for its caller, and goes on for those that have joined it.
        if isNew, watch.isStopped {
            entries.withLock { $0[call.id] = nil }
        }
    }

    func update(_ id: UInt64, _ change: @Sendable (inout Call) -> Void) -> Call? {
        entries.withLock { entries in
            if var entry = entries[id] {
                change(&entry.call)
                entries[id] = entry
            }
            return entries[id]?.call
        }
    }

    func stopping(_ id: UInt64, _ outcome: Event.Outcome) {
        entries.withLock { $0[id]?.outcome = outcome }
    }

    func leave(_ id: UInt64) -> (Call, Event.Outcome)? {
        entries.withLock { entries in
            guard let entry = entries.removeValue(forKey: id), let outcome = entry.outcome else { return nil }
            return (entry.call, outcome)
        }
    }
}
