internal import Synchronization

/// Things that are under way, and those who wait until none of them is.
///
///     let group = CompletionGroup()
///     request.completionGroup = group
///     agent.start(request, completion: show)
///     await group.wait()                      // show was called
///
/// A request that is sent or started is in its group until everybody was told how it ended, a stream until it is read or
/// let go. Anything else may be in it too. Thread-safe.
public final class CompletionGroup: Sendable {
    // The count, above a bit that says whether somebody waits.
    private static let one = 2
    private let word = Atomic(0)
    private let waiting = Lock<[Int: CheckedContinuation<Void, Never>]>([:])
    private let numbers = Atomic(0)

    /// An empty group.
    public init() {}

    /// How many are in it.
    public var count: Int { word.load(ordering: .acquiring) / Self.one }

    /// One more begins.
    public func enter() {
        word.add(Self.one, ordering: .relaxed)
    }

    /// One that has entered is over.
    public func leave() {
        let left = word.subtract(Self.one, ordering: .acquiringAndReleasing).newValue
        if left == 1 {
            release()
        }
    }

    /// Returns when the group is empty, or the task is cancelled.
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

    /// Lets all go who wait, if the group is empty still: somebody may have entered, and begun to wait, meanwhile.
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
    /// The group that it is in while it is under way.
    public var completionGroup: CompletionGroup? {
        get { hasNotes ? self[CompletionGroupNote.self] : nil }
        set { self[CompletionGroupNote.self] = newValue }
    }
}
