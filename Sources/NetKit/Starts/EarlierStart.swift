/// A task that must end before another one begins. Created by ``CallHandle/succeeded`` and ``CallHandle/ended``.
///
///     let login = agent.start(signIn)
///     agent.start(cities, options: .init(after: [login.succeeded])) { … }
///
/// A task has ended when all its listeners were notified.
public struct EarlierStart: Sendable {
    let control: RunControl
    /// Whether the later task begins even if this one failed or was cancelled.
    let mayFail: Bool
}

extension CallHandle {
    /// The task must succeed first. Otherwise the later task fails with ``NetError/Code/earlierFailed`` and sends
    /// nothing. The error's ``NetError/failedPart`` is this task, with its number as the index.
    public var succeeded: EarlierStart { EarlierStart(control: control, mayFail: false) }

    /// The task must end first, with any outcome.
    public var ended: EarlierStart { EarlierStart(control: control, mayFail: true) }
}

/// A member of a batch that can wait for other tasks.
protocol WaitingErrand {
    /// The task's number.
    var id: UInt64 { get }
    /// The tasks that it waits for from its start, without those that were added later.
    var earlier: [EarlierStart] { get }
}

/// The wait graph of the whole process: tasks of different agents may wait for each other.
enum Waits {
    private struct State: Sendable {
        var earlier: [UInt64: [UInt64]] = [:]
        /// The number of waiters for each task. Only a task with a waiter can close a cycle.
        var later: [UInt64: Int] = [:]
    }

    private static let state = Lock(State())

    /// Records that a task waits for others. Returns the cycle, with its first task last, if they wait for it.
    static func note(_ id: UInt64, after others: [UInt64]) -> [UInt64]? {
        state.withLock { state in
            for other in others where other == id || state.later[id] != nil {
                if let way = state.earlier.way(from: other, to: id) {
                    return [id] + way
                }
            }
            state.earlier[id, default: []] += others
            for other in others {
                state.later[other, default: 0] += 1
            }
            return nil
        }
    }

    /// The indices of a batch's members, sorted so that each follows those that it waits for; otherwise the order is
    /// kept. `nil` is a member that waits for nothing.
    static func order(of members: [(any WaitingErrand)?]) -> [Int] {
        var places: [UInt64: [Int]] = [:]
        for (place, member) in members.enumerated() {
            if let member {
                places[member.id, default: []].append(place)
            }
        }
        let earlier = state.withLock { $0.earlier }
        var order: [Int] = []
        var seen: Set<UInt64> = []
        for (place, member) in members.enumerated() {
            guard let member else {
                order.append(place)
                continue
            }
            // Each task is pushed twice: before its predecessors and after them.
            var open = [(id: member.id, isBehind: false)]
            while let (id, isBehind) = open.popLast() {
                let here = places[id] ?? []
                if isBehind {
                    order += here
                } else if seen.insert(id).inserted {
                    open.append((id, true))
                    let said = here.first.flatMap { members[$0]?.earlier.map(\.control.id) } ?? []
                    open += ((earlier[id] ?? []) + said).map { ($0, false) }
                }
            }
        }
        return order
    }

    /// Whether a task waits for another, directly or indirectly.
    static func isWaiting(_ id: UInt64, for other: UInt64) -> Bool {
        state.withLock { $0.later[other] != nil && $0.earlier.way(from: id, to: other) != nil }
    }

    /// Removes a task that no longer waits.
    static func forget(_ id: UInt64) {
        state.withLock { state in
            for other in state.earlier.removeValue(forKey: id) ?? [] {
                let count = (state.later[other] ?? 1) - 1
                state.later[other] = count > 0 ? count : nil
            }
        }
    }
}

extension [UInt64: [UInt64]] {
    /// Returns the path from a waiting task to one that it waits for, both included, or `nil` without one.
    fileprivate func way(from start: UInt64, to end: UInt64) -> [UInt64]? {
        var before: [UInt64: UInt64] = [:]
        var open = [start]
        var seen: Set<UInt64> = [start]
        while let next = open.popLast() {
            if next == end {
                var way = [next]
                while let place = way.first, let previous = before[place] {
                    way.insert(previous, at: 0)
                }
                return way
            }
            for other in self[next] ?? [] where seen.insert(other).inserted {
                before[other] = next
                open.append(other)
            }
        }
        return nil
    }
}

extension RunControl {
    /// Makes the task wait for others.
    ///
    /// Throws ``NetError/Code/usage`` if one of them waits for it.
    func come(after others: [EarlierStart]) throws(NetError) {
        if others.isEmpty {
            return
        }
        if let way = Waits.note(id, after: others.map(\.control.id)) {
            let names = way.map(String.init).joined(separator: " after ")
            throw NetError(.usage, "starts wait for each other: \(names)")
        }
        if !add(others) {
            Waits.forget(id)
        }
    }

    /// Returns when all its predecessors have ended.
    ///
    /// Throws ``NetError/Code/earlierFailed`` if a predecessor had to succeed and did not, and
    /// ``NetError/Code/cancelled`` if the Swift task is cancelled meanwhile.
    func waitForEarlier() async throws(NetError) {
        let others = takeEarlier()
        if others.isEmpty {
            return
        }
        defer { Waits.forget(id) }
        for other in others {
            let told = Promise<Void>()
            if other.control.ticket.whenTold({ told.fulfil(.success(())) }) {
                try await told.value()
            }
            if !other.mayFail, let error = other.control.failure {
                let run = other.control.run
                let name = run.name.isEmpty ? run.url?.shownPlace : run.name
                let part = FailedPart(index: Int(clamping: run.id), name: name, tag: run.tag, error: error)
                throw NetError(.earlierFailed, "start \(part)", underlying: part)
            }
        }
    }
}
