public import Dispatch

/// Where a task calls its completion handlers.
public struct Delivery: Sendable {
    private enum Place: Sendable {
        case here
        case main
        case queue(DispatchQueue)
        case actor(any Actor)
        case executor(any TaskExecutor)
    }

    private let place: Place

    /// On the thread that did the work, without another thread change.
    public static let here = Delivery(place: .here)

    /// On the main actor.
    public static let main = Delivery(place: .main)

    /// On this queue, which may be concurrent.
    public static func queue(_ queue: DispatchQueue) -> Delivery { Delivery(place: .queue(queue)) }

    /// On this actor.
    public static func actor(_ actor: any Actor) -> Delivery { Delivery(place: .actor(actor)) }

    /// On this executor, such as ``Agent/executor``.
    public static func executor(_ executor: any TaskExecutor) -> Delivery { Delivery(place: .executor(executor)) }

    /// Runs `body` there without interruption.
    func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        switch place {
        case .here:
            body()
        case .main:
            await MainActor.run(body: body)
        case .queue(let queue):
            await withCheckedContinuation { continuation in
                queue.async { continuation.resume(returning: body()) }
            }
        case .actor(let actor):
            await Self.run(body, on: actor)
        case .executor(let executor):
            await withTaskExecutorPreference(executor) { await Self.runThere(body) }
        }
    }

    private static func run<Result: Sendable>(
        _ body: @Sendable () -> Result, on actor: isolated any Actor
    ) -> Result {
        body()
    }

    @concurrent
    private static func runThere<Result: Sendable>(_ body: @Sendable () -> Result) async -> Result {
        body()
    }
}
