extension Reachability {
    /// Calls a closure with the current state before this returns, then with every change.
    ///
    /// It runs on the thread that reports the change, one call at a time, and must not block.
    /// - Returns: the watch. Keep it: no further call begins after it is deallocated or cancelled.
    public func watch(_ handler: @escaping @Sendable (PathState) -> Void) -> ReachabilityWatch {
        let number = board.add(handler)
        return ReachabilityWatch { [weak board] in board?.remove(number) }
    }

    /// Calls a closure with the current state, then with every change in order. The delivery chooses the actor, queue
    /// or executor.
    ///
    /// - Returns: the watch. Keep it: no further call begins after it is deallocated or cancelled.
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

    /// Notifies an object of the current state and every change, until it is deallocated or removed. References it
    /// weakly.
    public func add(_ observer: any ReachabilityObserver) {
        remove(observer)
        let number = board.add { [weak self, weak observer] state in
            if let self, let observer {
                observer.reachability(self, changedTo: state)
            }
        }
        observers.withLock { $0[ObjectIdentifier(observer)] = number }
    }

    /// Stops notifying an object.
    public func remove(_ observer: any ReachabilityObserver) {
        let number = observers.withLock { $0.removeValue(forKey: ObjectIdentifier(observer)) }
        if let number {
            board.remove(number)
        }
    }
}

/// Receives changes; see ``Reachability/add(_:)``.
public protocol ReachabilityObserver: AnyObject, Sendable {
    /// Called with the state, at the beginning and after each change, on the thread that reports it. It must not block.
    func reachability(_ reachability: Reachability, changedTo state: PathState)
}

/// A registration for changes. It ends when it is cancelled or deallocated.
public final class ReachabilityWatch: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit {
        end()
    }

    /// Ends the registration.
    public func cancel() {
        end()
    }
}

extension Reachability: AsyncSequence {
    /// The current state, then every change. No state is dropped, even for a slow reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        // Keeps the reachability alive while it is read.
        private let owner: Reachability
        let states: AsyncStream<PathState>
        private var iterator: AsyncStream<PathState>.Iterator

        fileprivate init(_ owner: Reachability, _ states: AsyncStream<PathState>) {
            self.owner = owner
            self.states = states
            iterator = states.makeAsyncIterator()
        }

        /// Returns the next state, or `nil` if the task is cancelled.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> PathState? {
            await iterator.next(isolation: actor)
        }
    }

    /// Returns an iterator that begins with the current state.
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
