/// Closures at fixed points of a call, as in CTNetworking.
///
///     var hooks = CallHooks()
///     hooks.shouldCall = { _ in !isSleeping }
///     hooks.afterFailure = { call, error in log(call.id, error) }
///     configuration.interceptors = [ReformParameters { … }, hooks, ValidateParameters { … }]
///
/// The order within a call:
/// 1. ``shouldCall``, at its position among the interceptors
/// 2. ``afterCalling``, when the transport has received the request
/// 3. ``didReceive``, when the outcome is known, after status and decoding
/// 4. ``beforeSuccess`` or ``beforeFailure``
/// 5. the caller receives the outcome
/// 6. ``afterSuccess`` or ``afterFailure``
///
/// A call that a hook stops ends with ``NetError/Code/stoppedByCaller``, and later hooks are not called. A streamed
/// body is a success when its head has arrived, and is reported when it has been read. Observing closures must not
/// block.
public struct CallHooks: Interceptor {
    /// Returns false to stop the call. An error thrown here ends it: a ``NetError`` unchanged, any other error as
    /// ``NetError/Code/stoppedByCaller``.
    public var shouldCall: (@Sendable (Call) async throws -> Bool)?
    /// Called when the transport has received the request for the first time.
    public var afterCalling: (@Sendable (Call) -> Void)?
    /// Called when the outcome is known, success or failure.
    public var didReceive: (@Sendable (Call, Event.Outcome) -> Void)?
    /// Returns false to stop the call before its caller receives the response.
    public var beforeSuccess: (@Sendable (Call, Response<Bytes>) async throws -> Bool)?
    /// Called after the caller has received the response.
    public var afterSuccess: (@Sendable (Call, Response<Bytes>) -> Void)?
    /// Returns false to stop the call before its caller receives the failure, which becomes ``NetError/underlying``.
    public var beforeFailure: (@Sendable (Call, NetError) async throws -> Bool)?
    /// Called after the caller has received the failure.
    public var afterFailure: (@Sendable (Call, NetError) -> Void)?
    private let calls = HookedCalls()

    /// Creates an empty set of hooks.
    public init() {}

    /// Returns hooks that fail calls with ``NetError/Code/unreachable`` while there is no network.
    public static func online(_ isOnline: @escaping @Sendable () async -> Bool) -> CallHooks {
        var hooks = CallHooks()
        hooks.shouldCall = { _ in
            guard await isOnline() else { throw NetError(.unreachable, "there is no network") }
            return true
        }
        return hooks
    }

    /// Continues with the call if ``shouldCall`` allows it.
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
    /// Calls the observing hooks.
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
            // Closures and delegates of a request task are called later than the waiting task.
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

/// The calls in flight that have hooks.
private final class HookedCalls: Sendable {
    private struct Entry: Sendable {
        var call: Call
        var outcome: Event.Outcome?
    }

    private let entries = Lock<[UInt64: Entry]>([:])

    /// Records a call in its current state, unless its end will not be reported.
    func enter(_ call: Call) {
        guard let watch = call.watch else { return }
        let isNew = entries.withLock { entries in
            let known = entries[call.id]
            entries[call.id] = Entry(call: call, outcome: known?.outcome)
            return known == nil
        }
        // It has ended for its caller, and continues for the callers that joined it.
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
