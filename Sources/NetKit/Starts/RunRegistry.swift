/// The tasks that have not ended.
final class RunRegistry: Sendable {
    private struct State: Sendable {
        var runs: [UInt64: RunControl] = [:]
        /// By number and by mark, so that a task finds its possible duplicates without a search through all tasks.
        var marks: [UInt64: [RepeatMark]] = [:]
        var marked: [RepeatMark: Set<UInt64>] = [:]

        mutating func unmark(_ id: UInt64) {
            for mark in marks.removeValue(forKey: id) ?? [] {
                marked[mark]?.remove(id)
                if marked[mark]?.isEmpty == true {
                    marked[mark] = nil
                }
            }
        }
    }

    private let state = Lock(State())
    /// The calls in flight, among which the tasks count.
    let flights: Flights

    init(_ flights: Flights) {
        self.flights = flights
    }

    /// Returns whether the task may begin. It is registered until it is removed, even if it may not.
    func insert(_ control: RunControl) -> Bool {
        let mayBegin = flights.enter()
        if !mayBegin {
            flights.group.enter()
        }
        state.withLock { $0.runs[control.id] = control }
        mark(control)
        return mayBegin
    }

    /// Updates the marks of a task when more is known about it.
    func mark(_ control: RunControl) {
        let marks = control.repeatMarks
        state.withLock { state in
            guard state.runs[control.id] != nil else { return }
            state.unmark(control.id)
            state.marks[control.id] = marks
            for mark in marks {
                state.marked[mark, default: []].insert(control.id)
            }
        }
    }

    func remove(_ control: RunControl) {
        let wasListed = state.withLock { state in
            state.unmark(control.id)
            return state.runs.removeValue(forKey: control.id) != nil
        }
        if wasListed {
            flights.group.leave()
        }
    }

    subscript(id: UInt64) -> RunControl? { state.withLock { $0.runs[id] } }

    /// All tasks, in the order of their start.
    var all: [RunControl] { state.withLock { Array($0.runs.values) }.sorted { $0.id < $1.id } }

    /// The earlier tasks that it may duplicate, in the order of their start.
    func earlier(than control: RunControl) -> [RunControl] {
        let marks = control.repeatMarks
        return state.withLock { state in
            let ids = marks.reduce(into: Set<UInt64>()) { $0.formUnion(state.marked[$1] ?? []) }
            return ids.filter { $0 < control.id }.sorted().compactMap { state.runs[$0] }
        }
    }

    /// Cancels the tasks for which `isMeant` returns true. Returns how many of them had not ended.
    @discardableResult
    func cancel(where isMeant: (RunControl) -> Bool) -> Int {
        all.count { isMeant($0) && $0.cancel() }
    }
}
