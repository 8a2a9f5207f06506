/// The request tasks of an agent that have not ended.
final class TaskRegistry: Sendable {
    private struct State: Sendable {
        var tasks: [UInt64: TaskControl] = [:]
        /// The properties of each task, by its number. Together with `tasksByState` they form an index, so that a task
        /// finds
        /// its possible duplicates without a search through all tasks.
        var statesByTask: [UInt64: [DuplicateState]] = [:]
        /// The tasks with each property.
        var tasksByState: [DuplicateState: Set<UInt64>] = [:]

        mutating func removeFromIndex(_ id: UInt64) {
            for state in statesByTask.removeValue(forKey: id) ?? [] {
                tasksByState[state]?.remove(id)
                if tasksByState[state]?.isEmpty == true {
                    tasksByState[state] = nil
                }
            }
        }
    }

    private let state = Lock(State())
    /// The calls in flight of the agent. Each task counts as one.
    let flights: InFlightRequests

    init(_ flights: InFlightRequests) {
        self.flights = flights
    }

    /// Registers a task. Returns false if the task may not start; it is registered nevertheless, until it is removed.
    func insert(_ control: TaskControl) -> Bool {
        let mayBegin = flights.enter()
        if !mayBegin {
            flights.group.enter()
        }
        state.withLock { $0.tasks[control.id] = control }
        updateIndex(control)
        return mayBegin
    }

    /// Updates the index for a task after its request was created.
    func updateIndex(_ control: TaskControl) {
        let duplicateStates = control.duplicateStates
        state.withLock { state in
            guard state.tasks[control.id] != nil else { return }
            state.removeFromIndex(control.id)
            state.statesByTask[control.id] = duplicateStates
            for duplicateState in duplicateStates {
                state.tasksByState[duplicateState, default: []].insert(control.id)
            }
        }
    }

    func remove(_ control: TaskControl) {
        let wasListed = state.withLock { state in
            state.removeFromIndex(control.id)
            return state.tasks.removeValue(forKey: control.id) != nil
        }
        if wasListed {
            flights.group.leave()
        }
    }

    subscript(id: UInt64) -> TaskControl? { state.withLock { $0.tasks[id] } }

    /// All tasks, in the order of their start.
    var all: [TaskControl] { state.withLock { Array($0.tasks.values) }.sorted { $0.id < $1.id } }

    /// Returns the earlier tasks that `control` may duplicate, in the order of their start.
    func earlier(than control: TaskControl) -> [TaskControl] {
        let duplicateStates = control.duplicateStates
        return state.withLock { state in
            let ids = duplicateStates.reduce(into: Set<UInt64>()) { $0.formUnion(state.tasksByState[$1] ?? []) }
            return ids.filter { $0 < control.id }.sorted().compactMap { state.tasks[$0] }
        }
    }

    /// Cancels the tasks for which `isSelected` returns true. Returns the number of tasks that were cancelled before
    /// they ended.
    @discardableResult
    func cancel(where isSelected: (TaskControl) -> Bool) -> Int {
        all.count { isSelected($0) && $0.cancel() }
    }
}

/// A property of a task. ``TaskRegistry`` uses these properties as index keys to find the possible duplicates of a
/// task.
private enum DuplicateState: Sendable, Hashable {
    case key(String)
    case type(ObjectIdentifier)
    case target(Method, String)
}

extension TaskControl {
    /// The properties that are known so far. Two tasks that may be duplicates have at least one in common.
    fileprivate var duplicateStates: [DuplicateState] {
        var states = group.map { [DuplicateState.type($0)] } ?? []
        guard let request else { return states }
        if let key = request.duplicateKey {
            states.append(.key(key))
        } else if let type = request.group {
            states.append(.type(type))
        } else if group == nil {
            states.append(.target(request.method, String(request.url.withoutQuery)))
        }
        return states
    }

    /// Returns true if this task and `other` may be duplicates. The check happens before this task is sent, so its
    /// request may still be unknown. If the request of `other` is unknown, it returns false.
    ///
    /// - Parameter isPerhaps: the result if both tasks have the same type and `other` has a key, but this task's key is
    ///   not known yet.
    func mayBeDuplicate(_ other: TaskControl, isPerhaps: Bool) -> Bool {
        guard let otherRequest = other.request else { return false }
        guard let request else {
            return group != nil && group == other.group && (otherRequest.duplicateKey == nil || isPerhaps)
        }
        if request.duplicateKey != nil || otherRequest.duplicateKey != nil {
            return request.duplicateKey == otherRequest.duplicateKey
        }
        let (type, otherType) = (group ?? request.group, other.group ?? otherRequest.group)
        if type != nil || otherType != nil {
            return type == otherType
        }
        // The bytes are compared, because different URLs can be canonically equivalent and therefore equal as String.
        return request.method == otherRequest.method && request.hasSameBaseURL(otherRequest)
            && request.url.withoutQuery.utf8.elementsEqual(otherRequest.url.withoutQuery.utf8)
    }
}
