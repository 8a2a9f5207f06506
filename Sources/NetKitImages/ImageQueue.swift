import NetKit

/// Who waits for what, what is under way and what comes next: decisions only.
struct ImageQueue: Sendable {
    typealias Outcome = Result<LoadedImage, NetError>

    /// What one transfer is for. One that asks the server in any case never stands for one that does not.
    struct Target: Hashable, Sendable {
        let key: ImageKey
        let isReload: Bool
    }

    struct Waiter: Sendable {
        let id: UInt64
        let delivery: ImageDelivery
    }

    /// A transfer, by its number: one that is asked for again after its cancel is another one.
    struct Job: Sendable {
        let id: UInt64
        let target: Target
        var request: ImageRequest
        var priority: Priority
        var waiters: [Waiter]
        var isActive = false
        /// A reload that began later has brought its image.
        var isOvertaken = false
        var task: Task<Void, Never>?
    }

    /// What came of asking.
    enum Asked: Sendable {
        /// A transfer has ended since the cache was asked: it is to be asked again.
        case askCacheAgain
        case joined
        case starts(Job)
    }

    private let maxActive: Int
    private let isLastInFirstOut: Bool
    private var jobs: [Target: Job] = [:]
    private var places: [UInt64: Target] = [:]
    private var lines: [Priority: WaitingLine] = [:]
    private var lastID: UInt64 = 0
    /// Transfers that have not ended, with those that nobody waits for any more.
    private(set) var activeCount = 0
    /// Rises with each transfer that ends.
    private(set) var endedCount: UInt64 = 0

    init(maxActive: Int, isLastInFirstOut: Bool) {
        self.maxActive = maxActive
        self.isLastInFirstOut = isLastInFirstOut
    }

    var waitingCount: Int { jobs.values.count { !$0.isActive } }

    mutating func newID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// - Parameter endedCount: what it was before the cache was asked.
    mutating func ask(_ request: ImageRequest, key: ImageKey, waiter: Waiter, endedCount: UInt64) -> Asked {
        let target = Target(key: key, isReload: request.cachePolicy == .reload)
        if var job = jobs[target] {
            job.waiters.append(waiter)
            places[waiter.id] = target
            let isMoreUrgent = !job.isActive && request.priority.rank < job.priority.rank
            if isMoreUrgent {
                job.priority = request.priority
                // It is sent so, too: the agent has a line of its own.
                job.request.priority = request.priority
                lines[job.priority, default: WaitingLine()].append(job.id, target)
            }
            jobs[target] = job
            return .joined
        }
        if endedCount != self.endedCount, request.cachePolicy != .reload {
            return .askCacheAgain
        }
        var job = Job(
            id: newID(), target: target, request: request, priority: request.priority, waiters: [waiter])
        places[waiter.id] = target
        job.isActive = activeCount < maxActive
        jobs[target] = job
        if job.isActive {
            activeCount += 1
            return .starts(job)
        }
        lines[job.priority, default: WaitingLine()].append(job.id, target)
        return .joined
    }

    /// False when nobody waits for it any more: the task is to be cancelled.
    mutating func keep(_ task: Task<Void, Never>, of job: Job) -> Bool {
        guard jobs[job.target]?.id == job.id else { return false }
        jobs[job.target]?.task = task
        return true
    }

    /// Whether the image of a transfer is the newest that there is, and is to be kept for others.
    mutating func takeForKeeping(_ job: Job) -> Bool {
        let plain = Target(key: job.target.key, isReload: false)
        if job.target.isReload, let older = jobs[plain], older.isActive, older.id < job.id {
            jobs[plain]?.isOvertaken = true
        }
        return jobs[job.target].map { $0.id != job.id || !$0.isOvertaken } ?? true
    }

    /// A transfer has ended: who waits for it, and what starts in its place.
    mutating func end(_ job: Job) -> (waiters: [Waiter], next: Job?) {
        activeCount -= 1
        endedCount += 1
        var waiters: [Waiter] = []
        if jobs[job.target]?.id == job.id, let ended = jobs.removeValue(forKey: job.target) {
            waiters = ended.waiters
            for waiter in waiters {
                places[waiter.id] = nil
            }
        }
        return (waiters, startNext())
    }

    /// One waits no longer: who it was, and the task of a transfer that nobody waits for now.
    mutating func cancel(_ id: UInt64) -> (waiter: Waiter?, task: Task<Void, Never>?) {
        guard let target = places.removeValue(forKey: id), var job = jobs[target],
            let place = job.waiters.firstIndex(where: { $0.id == id })
        else { return (nil, nil) }
        let waiter = job.waiters.remove(at: place)
        if job.waiters.isEmpty {
            // One that waits is passed over when its turn comes. One under way counts until it has ended.
            jobs[target] = nil
            return (waiter, job.task)
        }
        jobs[target] = job
        return (waiter, nil)
    }

    private mutating func startNext() -> Job? {
        guard activeCount < maxActive else { return nil }
        for priority in [Priority.high, .normal, .low] {
            while let (id, target) = lines[priority]?.take(last: isLastInFirstOut) {
                if var job = jobs[target], job.id == id, !job.isActive {
                    job.isActive = true
                    jobs[target] = job
                    activeCount += 1
                    return job
                }
            }
        }
        return nil
    }
}

extension Priority {
    fileprivate var rank: Int {
        switch self {
        case .high: 0
        case .normal: 1
        case .low: 2
        }
    }
}

/// Transfers of one priority in the order of their coming; those that are gone are passed over when they are taken.
private struct WaitingLine: Sendable {
    private var entries: [(UInt64, ImageQueue.Target)] = []
    private var first = 0

    mutating func append(_ id: UInt64, _ target: ImageQueue.Target) {
        entries.append((id, target))
    }

    mutating func take(last: Bool) -> (UInt64, ImageQueue.Target)? {
        guard first < entries.count else {
            entries = []
            first = 0
            return nil
        }
        if last {
            return entries.removeLast()
        }
        first += 1
        defer {
            if first > 1024 && first > entries.count / 2 {
                entries.removeFirst(first)
                first = 0
            }
        }
        return entries[first - 1]
    }
}
