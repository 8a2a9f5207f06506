import NetKit

/// How one who waits is told.
enum ImageDelivery: Sendable {
    case continuation(CheckedContinuation<ImageQueue.Outcome, Never>)
    case onMain(@MainActor @Sendable (ImageQueue.Outcome) -> Void)

    /// Tells everyone: first those whose tasks go on by themselves, so that none of them waits for the main actor, then
    /// the others in their order.
    static func deliver(_ outcome: ImageQueue.Outcome, to waiters: [ImageQueue.Waiter]) async {
        for case .continuation(let continuation) in waiters.lazy.map(\.delivery) {
            continuation.resume(returning: outcome)
        }
        for case .onMain(let body) in waiters.lazy.map(\.delivery) {
            await body(outcome)
        }
    }
}
