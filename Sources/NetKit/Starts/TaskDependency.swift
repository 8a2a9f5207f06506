/// A task that must end before another task starts. ``CallHandle/succeeded`` and ``CallHandle/ended`` create
/// dependencies.
///
///     let login = agent.start(signIn)
///     agent.start(cities, options: .init(after: [login.succeeded]))
///
/// A task counts as ended after all its listeners were notified.
public struct TaskDependency: Sendable {
    let control: TaskControl
    /// Whether the later task starts even if this task failed or was cancelled.
    let mayFail: Bool
}

extension CallHandle {
    /// A dependency on the success of this task. If this task fails or is cancelled, the later task sends nothing and
    /// fails with ``NetError/Code/earlierFailed``. The ``NetError/failedMember`` of that error is this task, with its
    /// number as the index.
    public var succeeded: TaskDependency { TaskDependency(control: control, mayFail: false) }

    /// A dependency on the end of this task, with any outcome.
    public var ended: TaskDependency { TaskDependency(control: control, mayFail: true) }
}

/// A member of a batch that can wait for other tasks.
protocol WaitingOperation {
    /// The task's number.
    var id: UInt64 { get }
    /// The tasks that it waits for, as set in its start options.
    var earlier: [TaskDependency] { get }
}

/// Records which tasks wait for which others, to detect cycles. There is one graph for the whole process, because tasks
/// of different agents may wait for each other.
enum Waits {
    private struct State: Sendable {
        var earlier: [UInt64: [UInt64]] = [:]
        /// The number of tasks that wait for each task. A cycle can only arise at a task with a waiter.
        var waiterCounts: [UInt64: Int] = [:]
    }

    private static let state = Lock(State())

    /// Records that a task waits for others. If one of them waits for the task, records nothing and returns the cycle,
    /// whose first and last element are the task.
    static func add(_ id: UInt64, after others: [UInt64]) -> [UInt64]? {
        state.withLock { state in
            for other in others where other == id || state.waiterCounts[id] != nil {
                if let path = state.earlier.path(from: other, to: id) {
                    return [id] + path
                }
            }
            state.earlier[id, default: []] += others
            for other in others {
                state.waiterCounts[other, default: 0] += 1
            }
            return nil
        }
    }

    /// Returns the indices of a batch's members in an order in which each member follows those that it waits for.
    /// Otherwise the order of the members is kept. A member that is `nil` waits for nothing.
    static func order(of members: [(any WaitingOperation)?]) -> [Int] {
        var indices: [UInt64: [Int]] = [:]
        for (index, member) in members.enumerated() {
            if let member {
                indices[member.id, default: []].append(index)
            }
        }
        let earlier = state.withLock { $0.earlier }
        var order: [Int] = []
        var seen: Set<UInt64> = []
        for (index, member) in members.enumerated() {
            guard let member else {
                order.append(index)
                continue
            }
            // Depth-first search: each task is pushed before its dependencies, and again to be added after them.
            var stack = [(id: member.id, dependenciesAreDone: false)]
            while let (id, dependenciesAreDone) = stack.popLast() {
                let ownIndices = indices[id] ?? []
                if dependenciesAreDone {
                    order += ownIndices
                } else if seen.insert(id).inserted {
                    stack.append((id, true))
                    let ownDependencies = ownIndices.first.flatMap { members[$0]?.earlier.map(\.control.id) } ?? []
                    stack += ((earlier[id] ?? []) + ownDependencies).map { ($0, false) }
                }
            }
        }
        return order
    }

    /// Returns true if a task waits for another, directly or indirectly.
    static func isWaiting(_ id: UInt64, for other: UInt64) -> Bool {
        state.withLock { $0.waiterCounts[other] != nil && $0.earlier.path(from: id, to: other) != nil }
    }

    /// Removes a task that no longer waits.
    static func forget(_ id: UInt64) {
        state.withLock { state in
            for other in state.earlier.removeValue(forKey: id) ?? [] {
                let count = (state.waiterCounts[other] ?? 1) - 1
                state.waiterCounts[other] = count > 0 ? count : nil
            }
        }
    }
}

extension [UInt64: [UInt64]] {
    /// Returns the tasks on the path from a waiting task to a task that it waits for, including both. Returns `nil` if
    /// there is no path.
    fileprivate func path(from start: UInt64, to end: UInt64) -> [UInt64]? {
        var previous: [UInt64: UInt64] = [:]
        var stack = [start]
        var seen: Set<UInt64> = [start]
        while let next = stack.popLast() {
            if next == end {
                var path = [next]
                while let index = path.first, let earlier = previous[index] {
                    path.insert(earlier, at: 0)
                }
                return path
            }
            for other in self[next] ?? [] where seen.insert(other).inserted {
                previous[other] = next
                stack.append(other)
            }
        }
        return nil
    }
}

extension TaskControl {
    /// Makes the task wait for other tasks.
    ///
    /// - Throws: ``NetError/Code/usage`` if one of them waits for this task.
    func addDependencies(_ others: [TaskDependency]) throws(NetError) {
        if others.isEmpty {
            return
        }
        if let path = Waits.add(id, after: others.map(\.control.id)) {
            let names = path.map(String.init).joined(separator: " after ")
            throw NetError(.usage, "requests wait for each other in a cycle: \(names)")
        }
        if !add(others) {
            Waits.forget(id)
        }
    }

    /// Waits until all dependencies have ended.
    ///
    /// - Throws: ``NetError/Code/earlierFailed`` if a task that had to succeed did not, and ``NetError/Code/cancelled``
    ///   if the current Swift task is cancelled meanwhile.
    func waitForDependencies() async throws(NetError) {
        let others = takeDependencies()
        if others.isEmpty {
            return
        }
        defer { Waits.forget(id) }
        for other in others {
            let ended = Promise<Void>()
            if other.control.transferHandle.onEndReported({ ended.fulfil(.success(())) }) {
                try await ended.value()
            }
            if !other.mayFail, let error = other.control.failure {
                let run = other.control.run
                let name = run.name.isEmpty ? run.url?.displayedLocation : run.name
                let part = FailedMember(index: Int(clamping: run.id), name: name, tag: run.tag, error: error)
                throw NetError(.earlierFailed, "earlier request \(part)", underlying: part)
            }
        }
    }
}
