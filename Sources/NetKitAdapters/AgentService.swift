#if ServiceLifecycle
public import NetKit
public import ServiceLifecycle

/// Runs an agent as a service of swift-service-lifecycle: it is closed when the application shuts down.
///
///     let group = ServiceGroup(
///         services: [AgentService(agent), server], gracefulShutdownSignals: [.sigterm], logger: logger)
///     try await group.run()
///
/// A service group shuts its services down in reverse order. List the agent before the services that send requests with
/// it, so that it is closed after them.
public struct AgentService: ServiceLifecycle.Service {
    private let agent: Agent

    /// Creates a service for an agent. Other code may use the agent before the service runs.
    public init(_ agent: Agent) {
        self.agent = agent
    }

    /// Waits for the graceful shutdown. Then refuses new calls, waits until those in flight have ended, and closes the
    /// agent.
    ///
    /// If the task is cancelled, before or during the shutdown, the calls in flight are cancelled too.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the graceful shutdown.
    public func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            await agent.invalidate(cancelling: true)
            throw error
        }
        await withTaskCancellationHandler {
            await agent.invalidate()
        } onCancel: { [agent] in
            Task { await agent.invalidate(cancelling: true) }
        }
    }
}
#endif
