#if Images
import Dispatch
import NetKit
import Testing

@testable import NetKitImages

@Suite(.timeLimit(.minutes(5)))
struct ImageDeliveryTests {
    @Test func taskDoesNotWaitForTheMainActorOfAnotherWaiter() async {
        let taskHasGoneOn = DispatchSemaphore(value: 0)
        let (outcomes, teller) = AsyncStream<DispatchTimeoutResult>.makeStream()
        let holdsMain = ImageCompletion.onMain { _ in
            // The limit only ends a failed test.
            teller.yield(taskHasGoneOn.wait(timeout: .now() + .seconds(20)))
        }
        let task = Task.detached {
            _ = await withCheckedContinuation { continuation in
                let waiters = [
                    ImageQueue.Waiter(id: 1, delivery: holdsMain),
                    ImageQueue.Waiter(id: 2, delivery: .continuation(continuation)),
                ]
                Task.detached { await ImageCompletion.deliver(.failure(NetError(.reset, "gone")), to: waiters) }
            }
            taskHasGoneOn.signal()
        }
        await task.value
        #expect(await outcomes.first { _ in true } == .success)
    }
}
#endif
