extension Agent {
    /// What happens to the agent and its calls from now on, with room for 1,000 events that wait for their reader.
    ///
    /// Events hold what they tell of, bodies in memory included.
    public var events: AgentEvents { events(keeping: 1_000) }

    /// As ``events``, with room for so many events.
    public func events(keeping capacity: Int) -> AgentEvents {
        AgentEvents(hub, keeping: capacity)
    }

    /// What is under way: calls that are sent, streams that are not read yet, and what was started.
    public var inFlightCount: Int { flights.group.count }

    /// Returns when nothing is under way, and those who were waiting have been told; or when the task is cancelled. What
    /// begins meanwhile is waited for, too.
    public func settle() async {
        await flights.group.wait()
    }

    /// Sends nothing any more: whatever begins from now on ends with ``NetError/Code/closed``. Returns when all that was
    /// under way has ended, and the agent's thread with it.
    ///
    /// What is under way may go on to its end, with what it sends on its way there. Cancelling ends it: starts and
    /// transfers at once, a call between two tries when its wait is over. Streams that nobody reads have to be let go.
    /// ``reset(cancelling:)`` opens an agent again, also while this waits: then the agent goes on. More calls of this
    /// wait, too; the first that says so cancels.
    public func invalidate(cancelling: Bool = false) async {
        let isFirst = flights.close(cancelling: cancelling)
        if cancelling {
            cancelAll()
        }
        await Task { [flights, transport, engine] in
            await flights.group.wait()
            // Meanwhile a reset may have opened the agent again.
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

    /// Begins anew with the same configuration: with connections, names and TLS sessions of its own. Returns when what
    /// was under way over the old ones has ended.
    ///
    /// What begins from now on goes over the new ones at once, also after ``invalidate(cancelling:)``. Cookies come
    /// along; a policy of ``setTrust(_:)`` and what servers said of HSTS and Alt-Svc, unless it is in a file, do not. No
    /// number of a call or a transfer comes a second time. Another transport than the agent's own stays as it is.
    /// - Parameter cancelling: ends what is under way, instead of waiting for it.
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

    /// Sends a request, and gives the answer as it is: a body in memory, in a file where ``TransferHooks/head`` has put
    /// it, or a stream where that wants one. Every status is an answer; nothing is decoded.
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
