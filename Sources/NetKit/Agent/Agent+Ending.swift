extension Agent {
    /// The events of the agent and its calls from now on. Keeps up to 1,000 unread events.
    ///
    /// An event keeps the values that it describes, including bodies in memory.
    public var events: AgentEvents { events(keeping: 1_000) }

    /// Returns ``events`` with room for `capacity` unread events.
    public func events(keeping capacity: Int) -> AgentEvents {
        AgentEvents(hub, keeping: capacity)
    }

    /// The number of calls in flight: sent calls, streams that are not read to their end, and request tasks.
    public var inFlightCount: Int { flights.group.count }

    /// Waits until nothing is in flight and all callbacks have run, or until the task is cancelled. Calls that begin
    /// meanwhile are waited for too.
    public func settle() async {
        await flights.group.wait()
    }

    /// Closes the agent: later calls end with ``NetError/Code/closed``. Returns when everything in flight has ended,
    /// and the agent's thread has stopped.
    ///
    /// Calls in flight may run to their end and send what they need for that. With `cancelling` they end: request tasks
    /// and transfers immediately, a call between two attempts when its delay is over. Unread streams have to be
    /// released by their owner. ``reset(cancelling:)`` reopens an agent, even during this wait: then the agent
    /// continues. Further calls of this function wait too; the first one with `cancelling` cancels.
    public func invalidate(cancelling: Bool = false) async {
        let isFirst = flights.close(cancelling: cancelling)
        if cancelling {
            cancelAll()
        }
        await Task { [flights, transport, engine] in
            await flights.group.wait()
            // A reset may have reopened the agent in the meantime.
            if let engine {
                await engine.shutdown { !flights.isOpen }
            } else if !flights.isOpen {
                await transport.shutdown()
            }
        }.value
        if isFirst {
            await configuration.transferHooks.invalidated?()
            hub.tell(.invalidated)
        }
    }

    /// Restarts the agent with the same configuration and with new connections, resolved names and TLS sessions.
    /// Returns when everything in flight on the old connections has ended.
    ///
    /// Later calls use the new connections immediately, also after ``invalidate(cancelling:)``. Cookies are kept. A
    /// policy of ``setTrust(_:)`` is dropped, as are HSTS and Alt-Svc entries that are not in a file. Numbers of calls
    /// and transfers are never reused. A transport other than the agent's own is not changed.
    /// - Parameter cancelling: cancels calls in flight instead of waiting for them.
    public func reset(cancelling: Bool = false) async {
        if cancelling {
            registry.cancel { _ in true }
        }
        if let engine {
            let context = exchange.cacheContext
            let trust = StandingTrust(configuration.trust)
            context.beginTrustChange()
            await engine.reset(cancelling: cancelling) {
                context.endTrustChange(trust)
                flights.open()
            }
        } else {
            flights.open()
        }
        hub.tell(.reset)
    }

    /// Sends a request and returns the undecoded response. Its body is in memory, in a file if ``TransferHooks/head``
    /// chose one, or a stream if the hook asked for one. Every status is accepted.
    public func open(_ request: Request<some Sendable>) async throws(NetError) -> Answer {
        try enter(request)
        do throws(NetError) {
            let answer = try await openedThroughChain(request)
            if case .stream(let stream) = answer.body {
                return Answer(stream.replaced(by: CountedChunks(stream, in: [flights.group])))
            }
            flights.group.leave()
            return answer
        } catch {
            flights.group.leave()
            throw error
        }
    }
}
