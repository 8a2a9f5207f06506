/// Limits the number of concurrent requests. Further requests wait in a queue: those with a higher priority first, and
/// those with the same priority in the order of their arrival.
final class PermitQueue: Sendable {
    fileprivate typealias Queue = RecencyList<UInt64, Promise<Void>>

    fileprivate struct State: Sendable {
        var free: Int
        var last: UInt64 = 0
        /// The waiters of each priority, with the highest priority last. Inserting, removing and moving a waiter take
        /// constant time.
        var queues = [Queue](repeating: Queue(), count: Priority.ranks)
        /// Waiters that were given a slot and have not taken it yet.
        var granted: Set<UInt64> = []
    }

    private let state: Lock<State>
    private let time: TimeSource

    init(_ count: Int, time: TimeSource) {
        state = Lock(State(free: max(1, count)))
        self.time = time
    }

    /// The number of waiters.
    var waitingCount: Int { state.withLock { $0.queues.reduce(0) { $0 + $1.count } } }

    /// Waits for a slot.
    ///
    /// - Throws: ``NetError/Code/slotTimeout`` after ``Limits/slot``, ``NetError/Code/timeout`` at the end of
    ///   the call's time, and ``NetError/Code/cancelled`` if the task is cancelled.
    func take(
        for request: Request<Bytes>, within budget: TimeBudget = TimeBudget(nil)
    ) async throws(NetError) -> ConcurrencyPermit {
        let promise = Promise<Void>()
        let number = state.withLock { state -> UInt64? in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            state.last += 1
            state.queues[request.currentPriority.rank].set(promise, cost: 0, for: state.last)
            return state.last
        }
        guard let number else { return ConcurrencyPermit(self) }
        request.transferHandle?.onPriorityChange { [self] in move(number, as: request) }
        defer { request.transferHandle?.onPriorityChange(nil) }
        move(number, as: request)  // The priority may have changed before the closure was registered.
        let timer = request.limits.slot.map { limit in Task { await expire(number, after: limit) } }
        defer { timer?.cancel() }
        do throws(NetError) {
            try await budget.value(of: promise, "waiting for a slot")
            state.withLock { _ = $0.granted.remove(number) }
            return ConcurrencyPermit(self)
        } catch {
            giveUp(number)
            throw error
        }
    }

    /// Passes a returned slot to the next waiter. If there is none, the slot becomes free.
    fileprivate func giveBack() {
        let next = state.withLock { state -> Promise<Void>? in
            guard let (number, promise) = state.queues.lazy.reversed().compactMap(\.oldest).first else {
                state.free += 1
                return nil
            }
            _ = state.remove(number)
            state.granted.insert(number)
            return promise
        }
        next?.fulfil(.success(()))
    }

    /// Moves a waiter behind the others with its current priority, if its priority has changed.
    private func move(_ number: UInt64, as request: Request<Bytes>) {
        state.withLock { state in
            let rank = request.currentPriority.rank
            guard !state.queues[rank].has(number), let promise = state.remove(number) else { return }
            state.queues[rank].set(promise, cost: 0, for: number)
        }
    }

    private func expire(_ number: UInt64, after limit: Duration) async {
        guard (try? await time.sleep(limit)) != nil else { return }
        let waiter = state.withLock { $0.remove(number) }
        waiter?.fulfil(
            .failure(NetError(.slotTimeout, "the service's concurrency limit had no free slot in time (limits.slot)")))
    }

    /// Removes a waiter from the queue. If the waiter was given a slot in the meantime, the slot is passed on.
    private func giveUp(_ number: UInt64) {
        let hasSlot = state.withLock { state in
            _ = state.remove(number)
            return state.granted.remove(number) != nil
        }
        if hasSlot {
            giveBack()
        }
    }
}

extension PermitQueue.State {
    fileprivate mutating func remove(_ number: UInt64) -> Promise<Void>? {
        for rank in queues.indices {
            guard let promise = queues[rank].use(number) else { continue }
            queues[rank].remove(number)
            if queues[rank].count == 0 {
                queues[rank].removeAll()
            }
            return promise
        }
        return nil
    }
}

/// A slot that a request occupies. It is returned by `giveBack()`, or when this object is deallocated.
final class ConcurrencyPermit: Sendable {
    private let slots: PermitQueue
    private let isTaken = Lock(true)

    fileprivate init(_ slots: PermitQueue) {
        self.slots = slots
    }

    deinit {
        giveBack()
    }

    func giveBack() {
        let wasTaken = isTaken.withLock { isTaken in
            defer { isTaken = false }
            return isTaken
        }
        if wasTaken {
            slots.giveBack()
        }
    }
}

extension Request {
    /// The current priority, which may differ from the request's original one.
    fileprivate var currentPriority: Priority { transferHandle?.priority ?? priority }
}

extension Priority {
    fileprivate static let ranks = 3

    fileprivate var rank: Int {
        switch self {
        case .high: 2
        case .normal: 1
        case .low: 0
        }
    }
}
