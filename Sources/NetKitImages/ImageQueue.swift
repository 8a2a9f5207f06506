import NetKit

/// The state machine of a downloader: its waiters, the transfers in flight and the next ones. It starts no transfers
/// itself.
struct ImageQueue: Sendable {
    typealias Outcome = Result<LoadedImage, NetError>

    /// The purpose of one transfer. A reload and a normal load never share one.
    struct Target: Hashable, Sendable {
        let key: ImageKey
        let isReload: Bool
    }

    struct Waiter: Sendable {
        let id: UInt64
        let delivery: ImageDelivery
    }

    /// A transfer with its number: after a cancellation, a new request for the same image is another transfer.
    struct Job: Sendable {
        let id: UInt64
        let target: Target
        var request: ImageRequest
        var priority: Priority
        var waiters: [Waiter]
        var isActive = false
        /// Whether a reload that began later has ended first.
        var isOvertaken = false
        var task: Task<Void, Never>?
    }

    /// The result of a request.
    enum Asked: Sendable {
        /// A transfer has ended since the cache was read, so it must be read again.
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
    /// The number of transfers that have not ended, including those without waiters.
    private(set) var activeCount = 0
    /// Incremented by each transfer that ends.
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

    /// - Parameter endedCount: its value before the cache was read.
    mutating func ask(_ request: ImageRequest, key: ImageKey, waiter: Waiter, endedCount: UInt64) -> Asked {
        let target = Target(key: key, isReload: request.cachePolicy == .reload)
        if var job = jobs[target] {
            job.waiters.append(waiter)
            places[waiter.id] = target
            let isMoreUrgent = !job.isActive && request.priority.rank < job.priority.rank
            if isMoreUrgent {
                job.priority = request.priority
                // The agent has its own queue, so the request needs the priority too.
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

    /// Returns false if the transfer has no waiters left, so that the task must be cancelled.
    mutating func keep(_ task: Task<Void, Never>, of job: Job) -> Bool {
        guard jobs[job.target]?.id == job.id else { return false }
        jobs[job.target]?.task = task
        return true
    }

    /// Returns whether the image of a transfer is the newest, so that it may be cached.
    mutating func takeForKeeping(_ job: Job) -> Bool {
        let plain = Target(key: job.target.key, isReload: false)
        if job.target.isReload, let older = jobs[plain], older.isActive, older.id < job.id {
            jobs[plain]?.isOvertaken = true
        }
        return jobs[job.target].map { $0.id != job.id || !$0.isOvertaken } ?? true
    }

    /// Ends a transfer. Returns its waiters and the next transfer to start.
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

    /// Removes a waiter. Returns it, and the task of a transfer that has no waiters left.
    mutating func cancel(_ id: UInt64) -> (waiter: Waiter?, task: Task<Void, Never>?) {
        guard let target = places.removeValue(forKey: id), var job = jobs[target],
            let place = job.waiters.firstIndex(where: { $0.id == id })
        else { return (nil, nil) }
        let waiter = job.waiters.remove(at: place)
        if job.waiters.isEmpty {
            // A waiting transfer is skipped at its turn. One in flight counts until it has ended.
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

/// Transfers of one priority in order of arrival. Removed ones are skipped.
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
