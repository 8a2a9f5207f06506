/// A start that another one comes after: ``CallHandle/succeeded`` and ``CallHandle/ended`` make one.
///
///     let login = agent.start(signIn)
///     agent.start(cities, options: .init(after: [login.succeeded])) { … }
///
/// It has ended when everybody was told of it.
public struct EarlierStart: Sendable {
    let control: RunControl
    /// Whether the later one goes on although this one failed or was cancelled.
    let mayFail: Bool
}

extension CallHandle {
    /// Comes first, and has to succeed: otherwise the later start fails with ``NetError/Code/earlierFailed``, and nothing
    /// of it is sent. The error's ``NetError/failedPart`` is this one, with its number for an index.
    public var succeeded: EarlierStart { EarlierStart(control: control, mayFail: false) }

    /// Comes first, however it ends.
    public var ended: EarlierStart { EarlierStart(control: control, mayFail: true) }
}

/// A member of a batch that may come after others.
protocol WaitingErrand {
    /// Its start's number.
    var id: UInt64 { get }
    /// What it waits for from its start on, beside what it has been told since.
    var earlier: [EarlierStart] { get }
}

/// Who waits for whom, in the whole process: starts of different agents may wait for each other.
enum Waits {
    private struct State: Sendable {
        var earlier: [UInt64: [UInt64]] = [:]
        /// How many wait for each: only who is waited for can close a circle.
        var later: [UInt64: Int] = [:]
    }

    private static let state = Lock(State())

    /// Notes that one comes after others; returns the way around, with its first one last, when they wait for it.
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

    /// Places of a batch's members in an order in which each stands behind those that it comes after; nil is a member
    /// that comes after nobody. Otherwise they stay as they are.
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
            // A start stands on this twice: before those that it comes after, and behind them.
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

    /// Whether one waits for another, itself or by others.
    static func isWaiting(_ id: UInt64, for other: UInt64) -> Bool {
        state.withLock { $0.later[other] != nil && $0.earlier.way(from: id, to: other) != nil }
    }

    /// It waits no more.
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
    /// A way from one that waits to one that it waits for, both included; nil without one.
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
    /// Makes it wait for others.
    ///
    /// Throws ``NetError/Code/usage`` when one of them waits for it.
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

    /// Returns when everything that it comes after has ended.
    ///
    /// Throws ``NetError/Code/earlierFailed`` when one of them had to succeed and has not, and
    /// ``NetError/Code/cancelled`` when the task is cancelled meanwhile.
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
