/// What was started and is not over.
final class RunRegistry: Sendable {
    private struct State: Sendable {
        var runs: [UInt64: RunControl] = [:]
        /// By number, and by mark: a start looks for those that it may repeat, and not through all.
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
    /// What they count among.
    let flights: Flights

    init(_ flights: Flights) {
        self.flights = flights
    }

    /// Returns whether it may begin; it is listed until it is removed in any case.
    func insert(_ control: RunControl) -> Bool {
        let mayBegin = flights.enter()
        if !mayBegin {
            flights.group.enter()
        }
        state.withLock { $0.runs[control.id] = control }
        mark(control)
        return mayBegin
    }

    /// Takes down what others may have in common with it, now that more is known of it.
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

    /// All of them, the first started first.
    var all: [RunControl] { state.withLock { Array($0.runs.values) }.sorted { $0.id < $1.id } }

    /// Those started before one that it may repeat, the first started first.
    func earlier(than control: RunControl) -> [RunControl] {
        let marks = control.repeatMarks
        return state.withLock { state in
            let ids = marks.reduce(into: Set<UInt64>()) { $0.formUnion(state.marked[$1] ?? []) }
            return ids.filter { $0 < control.id }.sorted().compactMap { state.runs[$0] }
        }
    }

    /// Cancels those that `isMeant` picks; returns how many it was in time for.
    @discardableResult
    func cancel(where isMeant: (RunControl) -> Bool) -> Int {
        all.count { isMeant($0) && $0.cancel() }
    }
}
