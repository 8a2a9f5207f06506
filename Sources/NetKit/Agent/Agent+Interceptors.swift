extension Agent {
    /// Returns true if calls of this request need neither interceptors nor observers.
    func isBare(_ request: Request<some Sendable>) -> Bool { hasBareCalls && !request.hasOptions && !hub.hasReaders }

    /// Returns the interceptors for a request: those of the agent, the service and the request itself.
    func chain(for request: Request<Bytes>) -> CallChain {
        guard request.hasOptions else { return chain }
        let service = request.service
        let ownInterceptors = request.interceptors
        let withheldAdditions = request.withheldAdditions
        let policy = request.retryPolicy
        guard service != nil || !ownInterceptors.isEmpty || !withheldAdditions.isEmpty || policy != nil else {
            return chain
        }
        let agentInterceptors = chain.interceptors.running(isCrossOrigin: withheldAdditions.contains(.agent))
        let isCrossOrigin = withheldAdditions.contains(.service)
        let serviceInterceptors = (service?.configuration.interceptors ?? []).running(isCrossOrigin: isCrossOrigin)
        // Signing comes last: a signature contains the time, and interceptors behind it could wait.
        let stage = service?.stage ?? []
        let signing = isCrossOrigin ? [] : service?.configuration.signing ?? []
        var interceptors = agentInterceptors + serviceInterceptors + ownInterceptors
        // A policy for retries works without a Retry interceptor. Each attempt is signed again.
        if let retry = policy?.settings(over: nil), !interceptors.contains(where: { $0 is Retry }) {
            interceptors.append(retry)
        }
        // The agent's hooks were merged when it was created. Its challenge hook is not called for a foreign server.
        let agentHooks =
            withheldAdditions.contains(.agent)
            ? agentInterceptors.transferHooks().withoutServerChallenge() : chain.hooks
        var serviceHooks = (serviceInterceptors + signing).transferHooks()
        if isCrossOrigin {
            serviceHooks = serviceHooks.withoutServerChallenge()
        }
        let hooks = ownInterceptors.transferHooks().filled(from: serviceHooks).filled(from: agentHooks)
        return CallChain(interceptors + stage + signing, hooks, end: callRunner)
    }

    /// Returns the observers of a request.
    func observers(of request: Request<some Sendable>) -> [any Observer] {
        let all = hub.hasReaders ? observers + [hub] : observers
        guard request.hasOptions else { return all }
        let (service, own) = (request.service?.configuration, request.interceptors)
        guard service != nil || !own.isEmpty else { return all }
        let ofService = service?.interceptors ?? []
        return all + ofService.watching + own.watching
            + (ofService + (service?.signing ?? [])).metricsHooks(of: .service) + own.metricsHooks()
    }

    typealias Work<Value> = @Sendable (Call) async throws(NetError) -> (Value, Response<Bytes>)

    /// Runs one call to its end, and notifies its observers of the start and the end.
    func runObserved<Value: Sendable>(
        _ request: Request<some Sendable>, _ kind: Call.Kind, savingTo path: String? = nil,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> Value {
        let (value, received, watch) = try await runToResponse(request, kind, savingTo: path, work)
        if let watch {
            await watch.reportStopping(.answered(received))
            watch.reportStopped()
        }
        return value
    }

    /// Runs one call up to its response, and notifies its observers of the start. If this function returns, the caller
    /// has to notify them of the end. If it throws, it has notified them.
    func runToResponse<Value: Sendable>(
        _ request: Request<some Sendable>, _ kind: Call.Kind, savingTo path: String? = nil,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>, Watch?) {
        let budget = request.budget ?? budget(of: request, kind)
        let watch = Watch.begin(request, observers(of: request), within: budget)
        var call = Call(request.erased, kind: kind, watch: watch, budget: budget)
        do throws(NetError) {
            let (value, received) = try await runWithinTimeLimit(&call, of: request, savingTo: path, work)
            return (value, received, watch)
        } catch {
            throw await failure(of: call, for: request, error)
        }
    }

    /// Runs the work of a call within the call's time limit.
    ///
    /// - Parameter isEnd: true if the call ends with this work, so that the hooks for the end of a call run.
    @inline(__always)
    func runWithinTimeLimit<Value: Sendable>(
        _ call: inout Call, of request: Request<some Sendable>, savingTo path: String? = nil, isEnd: Bool = true,
        _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        if isPrompt, !request.hasOptions || hasPromptCall(request) {
            return try await prepareAndRun(call, savingTo: path, isEnd, { call = $0 }, work)
        }
        return try await runRacing(&call, savingTo: path, isEnd, work)
    }

    /// Prepares the call, runs its work, and calls the hooks for the end of a call.
    @inline(__always)
    private func prepareAndRun<Value: Sendable>(
        _ started: Call, savingTo path: String?, _ isEnd: Bool, _ onPrepared: (Call) -> Void, _ work: Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        var call = started
        if addsToRequests || call.request.hasOptions {
            call = try await prepared(call)
        } else {
            try preparePlain(&call)
        }
        if let path {
            call.request.savePath = try Self.checkedPath(path)
        }
        if call.request.hasOptions {
            call.watch?.withhold(call.request.withheldAdditions)
        }
        if call.request.body?.isStreamed == true {
            call.request = call.request.renewing(by: chain(for: call.request).hooks.newBody, call.watch)
        }
        onPrepared(call)
        let prepared = call
        let (value, received) = try await inFlight.currentAgent { () async throws(NetError) in
            try await work(prepared)
        }
        if isEnd, !endings.isEmpty || call.request.hasOptions {
            try await willEnd(call, .answered(received))
        }
        return (value, received)
    }

    /// Runs the work in a task and returns when the work or the time ends, because app code may ignore cancellation.
    @inline(never)
    private func runRacing<Value: Sendable>(
        _ call: inout Call, savingTo path: String?, _ isEnd: Bool, _ work: @escaping Work<Value>
    ) async throws(NetError) -> (Value, Response<Bytes>) {
        let (latest, budget) = (Lock(call), call.budget)
        defer {
            call = latest.withLock { $0 }
            call.budget = budget
        }
        // A local constant, not a capture list: in Swift 6.3, a closure with a capture list leaves the caller's actor.
        let started = call
        return try await budget.race("the call", call.kind) { budget async throws(NetError) in
            var call = started
            call.budget = budget
            let recordPrepared: @Sendable (Call) -> Void = { prepared in latest.withLock { $0 = prepared } }
            return try await self.prepareAndRun(call, savingTo: path, isEnd, recordPrepared, work)
        }
    }

    /// Returns true if no app code of the request can delay its call beyond the time limit. Closures of the app that
    /// ``TimeBudget`` limits individually do not count.
    private func hasPromptCall(_ request: Request<some Sendable>) -> Bool {
        let service = request.service
        let own = request.interceptors + (service?.configuration.interceptors ?? []) + (service?.stage ?? [])
        if case .custom(let retry)? = request.retryPolicy, !retry.isPrompt {
            return false
        }
        return own.arePrompt && (service?.configuration.signing ?? []).arePrompt
    }

    // The functions below run rarely. They are never inlined, because they would enlarge every call's stack frame.

    /// Ends a failed call: calls the ``CallEnding`` interceptors, notifies the observers, and returns the final error.
    @inline(never)
    func failure(
        of call: Call, for request: Request<some Sendable>, _ failure: NetError
    ) async -> NetError {
        var error = request.hasOptions ? request.service?.mapped(failure) ?? failure : failure
        call.request.progress?(.over)
        // If a hook or a CallEnding interceptor stopped the call, no further one is called.
        if error.code != .stoppedByCaller {
            do throws(NetError) {
                try await willFail(call, error)
            } catch let other {
                error = other
            }
        }
        await call.watch?.reportStopping(.failed(error))
        call.watch?.reportStopped()
        return error
    }

    /// Calls the ``CallEnding`` interceptors, which may replace the outcome before the caller receives it.
    @inline(never)
    func willEnd(_ call: Call, _ outcome: Event.Outcome) async throws(NetError) {
        let chain = chain(for: call.request)
        for ending in chain === self.chain ? endings : chain.interceptors.ending {
            do {
                try await ending.willEnd(call, outcome)
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the interceptor \(type(of: ending)) failed")
            }
        }
    }

    /// Does the same for a failed call. If the call's time has ended, the interceptors still have ``TimeBudget/grace``.
    private func willFail(_ call: Call, _ error: NetError) async throws(NetError) {
        guard chain(for: call.request).interceptors.contains(where: { $0 is any CallEnding }) else { return }
        try await call.budget.race("the failure hook", atLeast: TimeBudget.grace) { _ async throws(NetError) in
            try await self.willEnd(call, .failed(error))
        }
    }
}

extension Agent.Configuration {
    /// Whether no app code can delay a call beyond its time limit, except closures that are limited individually.
    var isPrompt: Bool { interceptors.arePrompt }
}

extension [any Interceptor] {
    /// Returns the interceptors that run for a call. ``OriginBoundInterceptor``s do not run for a foreign origin.
    fileprivate func running(isCrossOrigin: Bool) -> [any Interceptor] {
        isCrossOrigin ? filter { !($0 is any OriginBoundInterceptor) } : self
    }
}
