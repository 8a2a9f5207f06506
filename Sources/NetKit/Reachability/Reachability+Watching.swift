extension Reachability {
    /// Tells a closure the state now, before this returns, then every change.
    ///
    /// It runs on the thread that brings the news, one call at a time, and must not block.
    /// - Returns: keep it: when it is let go, or cancelled, no further call begins.
    public func watch(_ handler: @escaping @Sendable (PathState) -> Void) -> ReachabilityWatch {
        let number = board.add(handler)
        return ReachabilityWatch { [weak board] in board?.remove(number) }
    }

    /// Tells a closure the state now and then every change, in order, on the main actor, a queue or wherever you like.
    ///
    /// - Returns: keep it: when it is let go, or cancelled, no further call begins.
    public func watch(
        on delivery: Delivery, _ handler: @escaping @Sendable (PathState) -> Void
    ) -> ReachabilityWatch {
        let states = makeAsyncIterator().states
        let task = Task {
            for await state in states {
                await delivery.run {
                    handler(state)
                }
            }
        }
        return ReachabilityWatch { task.cancel() }
    }

    /// Tells an object, which is not kept, the state now and then every change, until it is gone or removed.
    public func add(_ observer: any ReachabilityObserver) {
        remove(observer)
        let number = board.add { [weak self, weak observer] state in
            if let self, let observer {
                observer.reachability(self, changedTo: state)
            }
        }
        observers.withLock { $0[ObjectIdentifier(observer)] = number }
    }

    /// Tells an object no more.
    public func remove(_ observer: any ReachabilityObserver) {
        let number = observers.withLock { $0.removeValue(forKey: ObjectIdentifier(observer)) }
        if let number {
            board.remove(number)
        }
    }
}

/// Wants to be told of changes; see ``Reachability/add(_:)``.
public protocol ReachabilityObserver: AnyObject, Sendable {
    /// The state, at the beginning or after a change; on the thread that brings the news, so that it must not block.
    func reachability(_ reachability: Reachability, changedTo state: PathState)
}

/// Somebody's wish to be told of changes; it ends when this is cancelled or let go.
public final class ReachabilityWatch: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends it.
    public func cancel() {
        end()
    }
}

extension Reachability: AsyncSequence {
    /// The state now, then every change: none is left out, however slow the reader is.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Whoever reads keeps what is read.
        private let owner: Reachability
        let states: AsyncStream<PathState>
        private var iterator: AsyncStream<PathState>.Iterator

        fileprivate init(_ owner: Reachability, _ states: AsyncStream<PathState>) {
            self.owner = owner
            self.states = states
            iterator = states.makeAsyncIterator()
        }

        /// The next state; nil when the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PathState? {
            await iterator.next(isolation: actor)
        }
    }

    /// Begins with the state now.
    public func makeAsyncIterator() -> AsyncIterator {
        let (states, continuation) = AsyncStream.makeStream(of: PathState.self)
        let number = board.add {
            continuation.yield($0)
        } onEnd: {
            continuation.finish()
        }
        continuation.onTermination = { [weak board] _ in board?.remove(number) }
        return AsyncIterator(self, states)
    }
}
