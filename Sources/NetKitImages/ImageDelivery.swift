import NetKit

/// How one who waits is told.
enum ImageDelivery: Sendable {
    case continuation(CheckedContinuation<ImageQueue.Outcome, Never>)
    case onMain(@MainActor @Sendable (ImageQueue.Outcome) -> Void)

    /// Tells everyone, in their order.
    static func deliver(_ outcome: ImageQueue.Outcome, to waiters: [ImageQueue.Waiter]) async {
        for waiter in waiters {
            switch waiter.delivery {
            case .continuation(let continuation): continuation.resume(returning: outcome)
            case .onMain(let body): await body(outcome)
            }
        }
    }
}
