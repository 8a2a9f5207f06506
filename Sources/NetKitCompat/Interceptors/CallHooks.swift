public import NetKit

/// Closures that are called at fixed points of a call, as in CTNetworking.
///
///     var hooks = CallHooks()
///     hooks.shouldCall = { _ in !isSleeping }
///     hooks.afterFailure = { call, error in log(call.id, error) }
///     configuration.interceptors = [hooks, Retry()]
///
/// The closures of a call run in this order:
/// 1. ``shouldCall``, when the call reaches this interceptor
/// 2. ``afterCalling``, when the transport has received the request
/// 3. ``didReceive``, when the outcome is known, after status and body were checked and decoded
/// 4. ``beforeSuccess`` or ``beforeFailure``
/// 5. the caller receives the outcome
/// 6. ``afterSuccess`` or ``afterFailure``
///
/// If a hook stops the call, it ends with `NetError.Code.stoppedByCaller`, and later hooks are not called. For a
/// stream, ``beforeSuccess`` is called when the head has arrived, and ``afterSuccess`` at the end of the body. Hooks
/// without a result must not block.
public struct CallHooks: Interceptor {
    /// Returns false to stop the call. If it throws, the call ends with that error. An error that is not a `NetError`
    /// becomes `NetError.Code.stoppedByCaller`.
    public var shouldCall: (@Sendable (Call) async throws -> Bool)?
    /// Called when the transport has received the request for the first time.
    public var afterCalling: (@Sendable (Call) -> Void)?
    /// Called when the outcome of the call is known, before ``beforeSuccess`` or ``beforeFailure``.
    public var didReceive: (@Sendable (Call, Event.Outcome) -> Void)?
    /// Returns false to stop the call before its caller receives the response.
    public var beforeSuccess: (@Sendable (Call, Response<Bytes>) async throws -> Bool)?
    /// Called after the caller has received the response.
    public var afterSuccess: (@Sendable (Call, Response<Bytes>) -> Void)?
    /// Returns false to replace the failure by `NetError.Code.stoppedByCaller`, whose `NetError.underlying` is the
    /// original failure.
    public var beforeFailure: (@Sendable (Call, NetError) async throws -> Bool)?
    /// Called after the caller has received the failure.
    public var afterFailure: (@Sendable (Call, NetError) -> Void)?
    private let calls = HookedCalls()

    /// Creates an empty set of hooks.
    public init() {}

    /// Returns hooks that let calls fail with `NetError.Code.unreachable` while the closure returns false.
    public static func online(_ isOnline: @escaping @Sendable () async -> Bool) -> CallHooks {
        var hooks = CallHooks()
        hooks.shouldCall = { _ in
            guard await isOnline() else { throw NetError(.unreachable, "no network connection") }
            return true
        }
        return hooks
    }

    /// Continues with the call if ``shouldCall`` allows it.
    public func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        calls.enter(call)
        try await check("the call", nil) { try await shouldCall?(call) ?? true }
        return try await next(call)
    }

    private func check(
        _ subject: String, _ cause: NetError?, response: Response<Bytes>? = nil, _ mayContinue: () async throws -> Bool
    ) async throws(NetError) {
        do {
            guard try await !mayContinue() else { return }
        } catch {
            throw NetError(wrapping: error, .stoppedByCaller, "a hook stopped \(subject)", response: response)
        }
        throw NetError(.stoppedByCaller, "a hook stopped \(subject)", response: response, underlying: cause)
    }
}

extension CallHooks: CallEnding {
    /// Calls ``didReceive``, then ``beforeSuccess`` or ``beforeFailure``.
    public func willEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError) {
        didReceive?(call, outcome)
        switch outcome {
        case .answered(let response):
            try await check("the response", nil, response: response) {
                try await beforeSuccess?(call, response) ?? true
            }
        case .failed(let failure):
            try await check("the failure", failure, response: failure.response) {
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
            guard let (call, outcome) = calls.remove(event.callID) else { return }
            call.whenReceived { reportLater(call, outcome) }
        default:
            break
        }
    }
}

extension CallHooks {
    private func reportLater(_ call: Call, _ outcome: Event.Outcome) {
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

    /// Records a call in its current state. Calls without observers are ignored, because their end is not reported.
    func enter(_ call: Call) {
        guard call.isObserved else { return }
        let isNew = entries.withLock { entries in
            let known = entries[call.id]
            entries[call.id] = Entry(call: call, outcome: known?.outcome)
            return known == nil
        }
        // The call has ended for its caller, but its shared transfer continues for other callers.
        if isNew, !call.isObserved {
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

    func remove(_ id: UInt64) -> (Call, Event.Outcome)? {
        entries.withLock { entries in
            guard let entry = entries.removeValue(forKey: id), let outcome = entry.outcome else { return nil }
            return (entry.call, outcome)
        }
    }
}
