extension Agent {
    /// Returns the events of the agent and its calls from now on.
    ///
    ///     let events = agent.activity()
    ///     Task { for await event in events { … } }
    ///
    /// Unread events wait in a bounded buffer. When the buffer is full, the oldest events are dropped, and the next
    /// event that the reader receives is ``AgentEvent/missed(_:)``. A slow reader never delays the agent. The sequence
    /// ends with the agent, or when the reading task is cancelled.
    ///
    /// Each use of ``Agent/activity(keeping:)`` creates a sequence that receives all events. Several iterators of the
    /// same sequence share its events: each event goes to one of them.
    ///
    /// An unread event keeps its values alive, including bodies in memory.
    /// - Parameter capacity: the number of unread events that are kept.
    public func activity(keeping capacity: Int = 1_000) -> some AsyncSequence<AgentEvent, Never> & Sendable {
        AgentEvents(hub, keeping: capacity)
    }

    /// The number of calls in flight: sent calls, streams that are not read to their end, and request tasks.
    package var inFlightCount: Int { inFlight.group.count }

    /// Waits until nothing is in flight and all callbacks have returned, or until the task is cancelled. The wait
    /// includes calls that begin during it.
    public func waitUntilIdle() async {
        await inFlight.group.wait()
    }

    /// Closes the agent: later calls end with ``NetError/Code/closed``. Returns when everything in flight has ended and
    /// the agent's thread has stopped.
    ///
    /// Calls in flight run to their end, and can send further requests for that. If `cancelling` is true, they are
    /// cancelled: request tasks and transfers end immediately, and a call that waits between two attempts ends after
    /// its delay. The app has to release streams that it does not read. Open WebSockets are closed with
    /// ``WebSocket/CloseCode/goingAway``.
    ///
    /// ``reset(cancelling:)`` reopens the agent. If that happens before this function returns, the agent's thread is
    /// not stopped. A second call of this function waits too, and cancels if its `cancelling` is true.
    public func invalidate(cancelling: Bool = false) async {
        let isFirst = inFlight.close(cancelling: cancelling)
        if cancelling {
            cancelAll()
        }
        sockets.closeAll()
        await Task { [inFlight, transport, engine] in
            await inFlight.group.wait()
            // A reset may have reopened the agent in the meantime.
            if let engine {
                await engine.shutdown { !inFlight.isOpen }
            } else if !inFlight.isOpen {
                await transport.shutdown()
            }
        }.value
        if isFirst {
            for interceptor in configuration.interceptors {
                await interceptor.transferHooks.invalidated?()
            }
            hub.send(.invalidated)
        }
    }

    /// Restarts the agent with the same configuration and with new connections, resolved names and TLS sessions.
    /// Returns when everything in flight on the old connections has ended.
    ///
    /// Later calls use the new connections immediately. An agent that ``invalidate(cancelling:)`` closed is open again.
    /// Cookies are kept. The configuration's trust policy replaces one that ``setTrust(_:)`` set. HSTS and Alt-Svc
    /// entries are lost unless they are in a file. Open WebSockets are closed. Numbers of calls and transfers are never
    /// reused. A transport that the app provided is not changed.
    /// - Parameter cancelling: whether to cancel calls in flight instead of waiting for them.
    public func reset(cancelling: Bool = false) async {
        if cancelling {
            registry.cancel { _ in true }
        }
        sockets.closeAll()
        if let engine {
            let context = callRunner.cacheContext
            let trust = TrustSetting(configuration.trust)
            context.beginTrustChange()
            await engine.reset(cancelling: cancelling) {
                context.endTrustChange(trust)
                inFlight.open()
            }
        } else {
            inFlight.open()
        }
        hub.send(.reset)
    }

    /// Sends a request and returns the undecoded response.
    ///
    /// The body is in memory, unless the hook `head` of ``TransferHooks`` chose a file or a stream. The checks of the
    /// request apply. A `Request<Bytes>` accepts every status.
    ///
    /// The response is not decoded. If the body is in memory, it is decoded for the listeners that need the value
    /// (``TaskListener/needsDecodedValue``).
    public func open(_ call: some RequestConvertible) async throws(NetError) -> ChainResponse {
        try await open(request: try await call.callRequest { !self.isBare($0) })
    }

    private func open(request: Request<some Sendable>) async throws(NetError) -> ChainResponse {
        try enter(request)
        do throws(NetError) {
            let response = try await openedThroughChain(request)
            if case .stream(let stream) = response.body {
                return ChainResponse(stream.replaced(by: CountedChunks(stream, in: inFlight.group)))
            }
            inFlight.group.leave()
            return response
        } catch {
            inFlight.group.leave()
            throw error
        }
    }
}

// Every call reports its end to its progress handler exactly once, even if it fails before any byte is transferred.

extension Agent {
    /// Counts a call of this request as in flight. If the agent is closed, reports the end of the progress and throws.
    @inline(__always)
    func enter(_ request: Request<some Sendable>) throws(NetError) {
        if !inFlight.enter() {
            request.progress?(.over)
            throw InFlightRequests.closed
        }
    }

    /// Returns the result of ``completed(_:limits:)``. If that throws, reports the end of the progress first.
    @inline(__always)
    func completedOrEndingProgress(_ request: Request<some Sendable>, limits: LimitsStorage) throws(NetError)
        -> Request<Bytes>
    {
        do throws(NetError) {
            return try completed(request, limits: limits)
        } catch {
            request.progress?(.over)
            throw error
        }
    }
}

extension Request {
    /// Changes the progress handler so that it receives the end only once, however often the end is reported. Returns a
    /// closure that reports the end, or `nil` if the request has no handler.
    mutating func endProgressOnce() -> (@Sendable () -> Void)? {
        guard let report = progress.map(TransferProgress.ending) else { return nil }
        progress = report
        return { report(.over) }
    }
}

extension TransferProgress {
    /// The progress value that reports the end of a call. ``ending(_:)`` adds the last byte counts to it.
    static var over: TransferProgress {
        var progress = TransferProgress()
        progress.isOver = true
        return progress
    }

    /// Returns a handler for one call. At the end of the call, it passes on the last byte counts with `isOver` set, and
    /// ignores all later values.
    static func ending(_ report: @escaping @Sendable (TransferProgress) -> Void) -> @Sendable (TransferProgress) -> Void
    {
        let last = Lock(TransferProgress())
        return { progress in
            let next = last.withLock { last -> TransferProgress? in
                if last.isOver {
                    return nil  // A shared transfer can continue for other callers and report more progress.
                }
                if progress.isOver {
                    last.isOver = true
                } else {
                    last = progress
                }
                return last
            }
            if let next {
                report(next)
            }
        }
    }
}
