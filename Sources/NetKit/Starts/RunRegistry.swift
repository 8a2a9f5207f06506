/// What was started and is not over.
final class RunRegistry: Sendable {
    private let runs = Lock<[UInt64: RunControl]>([:])
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
        runs.withLock { $0[control.id] = control }
        return mayBegin
    }

    func remove(_ control: RunControl) {
        if runs.withLock({ $0.removeValue(forKey: control.id) }) != nil {
            flights.group.leave()
        }
    }

    subscript(id: UInt64) -> RunControl? { runs.withLock { $0[id] } }

    /// All of them, the first started first.
    var all: [RunControl] { runs.withLock { Array($0.values) }.sorted { $0.id < $1.id } }

    /// Cancels those that `isMeant` picks; returns how many it was in time for.
    @discardableResult
    func cancel(where isMeant: (RunControl) -> Bool) -> Int {
        all.count { isMeant($0) && $0.cancel() }
    }
}
