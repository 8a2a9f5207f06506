internal import Synchronization

/// A set of pending calls. Callers can wait until all of them have ended.
///
///     let group = CompletionGroup()
///     request.completionGroup = group
///     agent.start(request, completion: show)
///     await group.wait()                      // show was called
///
/// A request is in its group until all listeners were notified of its end. A stream is in it until it is read or
/// released. Other work can enter the group too. Thread-safe.
public final class CompletionGroup: Sendable {
    // The count is above bit 0, which is set while a caller waits.
    private static let one = 2
    private let word = Atomic(0)
    private let waiting = Lock<[Int: CheckedContinuation<Void, Never>]>([:])
    private let numbers = Atomic(0)

    /// Creates an empty group.
    public init() {}

    /// The number of pending calls.
    public var count: Int { word.load(ordering: .acquiring) / Self.one }

    /// Adds one to the count.
    public func enter() {
        word.add(Self.one, ordering: .relaxed)
    }

    /// Subtracts one from the count.
    public func leave() {
        let left = word.subtract(Self.one, ordering: .acquiringAndReleasing).newValue
        if left == 1 {
            release()
        }
    }

    /// Returns when the group is empty, or when the Swift task is cancelled.
    public func wait() async {
        let number = numbers.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.withLock { $0[number] = continuation }
                word.bitwiseOr(1, ordering: .acquiringAndReleasing)
                release()
                if Task.isCancelled {
                    giveUp(number)
                }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    /// Resumes the waiters if the group is still empty: another thread may have entered meanwhile, and started to wait.
    private func release() {
        let waiting = waiting.withLock { waiting in
            guard count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { waiting = [:] }
            return Array(waiting.values)
        }
        for continuation in waiting {
            continuation.resume()
        }
    }

    private func giveUp(_ number: Int) {
        waiting.withLock { $0.removeValue(forKey: number) }?.resume()
    }
}

private enum CompletionGroupNote: RequestNote {
    static let standard: CompletionGroup? = nil
}

extension Request {
    /// The completion group of the request.
    public var completionGroup: CompletionGroup? {
        get { hasNotes ? self[CompletionGroupNote.self] : nil }
        set { self[CompletionGroupNote.self] = newValue }
    }
}
