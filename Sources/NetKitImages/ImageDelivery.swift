#if Images
import NetKit

/// How a caller that waits for an image receives the outcome.
enum ImageCompletion: Sendable {
    case continuation(CheckedContinuation<ImageQueue.Outcome, Never>)
    case onMain(@MainActor @Sendable (ImageQueue.Outcome) -> Void)

    /// Delivers the outcome to all waiters. Suspended tasks are resumed first, so that they do not wait for the main
    /// actor. Then the closures are called on the main actor, in order.
    static func deliver(_ outcome: ImageQueue.Outcome, to waiters: [ImageQueue.Waiter]) async {
        for case .continuation(let continuation) in waiters.lazy.map(\.delivery) {
            continuation.resume(returning: outcome)
        }
        for case .onMain(let body) in waiters.lazy.map(\.delivery) {
            await body(outcome)
        }
    }
}
#endif
