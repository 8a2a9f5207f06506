/// A concurrency limiter with a queue: higher priority first, then in order of arrival.
final class Slots: Sendable {
    fileprivate typealias Row = RecencyList<UInt64, Promise<Void>>

    fileprivate struct State: Sendable {
        var free: Int
        var last: UInt64 = 0
        /// By rank, with the highest priority last. Inserting, removing and moving take constant time.
        var rows = [Row](repeating: Row(), count: Priority.ranks)
        /// Waiters that have a slot and may not have resumed yet.
        var granted: Set<UInt64> = []
    }

    private let state: Lock<State>
    private let time: TimeSource

    init(_ count: Int, time: TimeSource) {
        state = Lock(State(free: max(1, count)))
        self.time = time
    }

    /// The number of waiters.
    var waitingCount: Int { state.withLock { $0.rows.reduce(0) { $0 + $1.count } } }

    /// Waits for a slot.
    ///
    /// - Throws: ``NetError/Code/slotTimedOut`` after ``Limits/slot``, ``NetError/Code/totalTimedOut`` at the end of the
    ///   call's time, and ``NetError/Code/cancelled``.
    func take(
        for request: Request<Bytes>, within budget: TimeBudget = TimeBudget(nil)
    ) async throws(NetError) -> TakenSlot {
        let promise = Promise<Void>()
        let number = state.withLock { state -> UInt64? in
            if state.free > 0 {
                state.free -= 1
                return nil
            }
            state.last += 1
            state.rows[request.currentPriority.rank].set(promise, cost: 0, for: state.last)
            return state.last
        }
        guard let number else { return TakenSlot(self) }
        request.ticket?.whenMoved { [self] in move(number, as: request) }
        defer { request.ticket?.whenMoved(nil) }
        move(number, as: request)  // It may have been moved before this was registered.
        let timer = request.limits?.slot.map { limit in Task { await expire(number, after: limit) } }
        defer { timer?.cancel() }
        do throws(NetError) {
            try await budget.value(of: promise, "the wait for a slot")
            state.withLock { _ = $0.granted.remove(number) }
            return TakenSlot(self)
        } catch {
            giveUp(number)
            throw error
        }
    }

    /// Passes a slot to the next waiter, or keeps it free.
    fileprivate func giveBack() {
        let next = state.withLock { state -> Promise<Void>? in
            guard let (number, promise) = state.rows.lazy.reversed().compactMap(\.oldest).first else {
                state.free += 1
                return nil
            }
            _ = state.remove(number)
            state.granted.insert(number)
            return promise
        }
        next?.fulfil(.success(()))
    }

    /// Moves a waiter behind those with its current priority.
    private func move(_ number: UInt64, as request: Request<Bytes>) {
        state.withLock { state in
            let rank = request.currentPriority.rank
            guard !state.rows[rank].has(number), let promise = state.remove(number) else { return }
            state.rows[rank].set(promise, cost: 0, for: number)
        }
    }

    private func expire(_ number: UInt64, after limit: Duration) async {
        guard (try? await time.sleep(limit)) != nil else { return }
        let waiter = state.withLock { $0.remove(number) }
        waiter?.fulfil(.failure(NetError(.slotTimedOut, "no slot of the service came free in time")))
    }

    /// Leaves the queue; a slot that was granted meanwhile is passed on.
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

extension Slots.State {
    fileprivate mutating func remove(_ number: UInt64) -> Promise<Void>? {
        for rank in rows.indices {
            guard let promise = rows[rank].use(number) else { continue }
            rows[rank].remove(number)
            if rows[rank].count == 0 {
                rows[rank].removeAll()
            }
            return promise
        }
        return nil
    }
}

/// A taken slot, returned once, at the latest by its last owner.
final class TakenSlot: Sendable {
    private let slots: Slots
    private let isTaken = Lock(true)

    fileprivate init(_ slots: Slots) {
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
    /// The priority that it was changed to, or its original one.
    fileprivate var currentPriority: Priority { ticket?.priority ?? priority }
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
