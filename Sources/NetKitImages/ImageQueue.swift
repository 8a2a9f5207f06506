#if Images
import NetKit

/// The state machine of a downloader: the transfers in flight, the waiting transfers, and their waiters. It does not
/// start transfers itself.
struct ImageQueue: Sendable {
    typealias Outcome = Result<LoadedImage, NetError>

    /// What a transfer loads. Requests with the same target share a transfer; a reload and a normal load have different
    /// targets.
    struct Target: Hashable, Sendable {
        let key: ImageKey
        let isReload: Bool
    }

    struct Waiter: Sendable {
        let id: UInt64
        let delivery: ImageCompletion
    }

    /// A transfer. Its number distinguishes it from a later transfer for the same target, which may start after a
    /// cancellation.
    struct Job: Sendable {
        let id: UInt64
        let target: Target
        var request: ImageRequest
        var priority: Priority
        var waiters: [Waiter]
        var isActive = false
        /// Whether a reload that began after this transfer has ended before it.
        var isOvertaken = false
        var task: Task<Void, Never>?
    }

    /// The result of adding a request.
    enum AddResult: Sendable {
        /// A transfer has ended since the cache was read, so the cache must be read again.
        case recheckCache
        /// The request waits, for a transfer in flight or for the start of its own.
        case joined
        /// The caller must start this transfer.
        case starts(Job)
    }

    private let maxActive: Int
    private let isLastInFirstOut: Bool
    private var jobs: [Target: Job] = [:]
    private var targets: [UInt64: Target] = [:]
    private var waitingJobs: [Priority: PriorityQueue] = [:]
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

    /// Adds a request and its waiter.
    ///
    /// - Parameter endedCount: the value of ``endedCount`` before the cache was read.
    mutating func add(_ request: ImageRequest, key: ImageKey, waiter: Waiter, endedCount: UInt64) -> AddResult {
        let target = Target(key: key, isReload: request.cachePolicy == .reload)
        if var job = jobs[target] {
            job.waiters.append(waiter)
            targets[waiter.id] = target
            let isMoreUrgent = !job.isActive && request.priority.rank < job.priority.rank
            if isMoreUrgent {
                job.priority = request.priority
                // The request needs the priority too, because the agent has a queue of its own.
                job.request.priority = request.priority
                waitingJobs[job.priority, default: PriorityQueue()].append(job.id, target)
            }
            jobs[target] = job
            return .joined
        }
        if endedCount != self.endedCount, request.cachePolicy != .reload {
            return .recheckCache
        }
        var job = Job(
            id: newID(), target: target, request: request, priority: request.priority, waiters: [waiter])
        targets[waiter.id] = target
        job.isActive = activeCount < maxActive
        jobs[target] = job
        if job.isActive {
            activeCount += 1
            return .starts(job)
        }
        waitingJobs[job.priority, default: PriorityQueue()].append(job.id, target)
        return .joined
    }

    /// Stores the task of a transfer. Returns false if the transfer has no waiters left, so that the task must be
    /// cancelled.
    mutating func setTask(_ task: Task<Void, Never>, of job: Job) -> Bool {
        guard jobs[job.target]?.id == job.id else { return false }
        jobs[job.target]?.task = task
        return true
    }

    /// Returns true if the image of a transfer may be cached, because no newer image was loaded meanwhile.
    mutating func mayCache(_ job: Job) -> Bool {
        let normalLoad = Target(key: job.target.key, isReload: false)
        if job.target.isReload, let older = jobs[normalLoad], older.isActive, older.id < job.id {
            jobs[normalLoad]?.isOvertaken = true
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
                targets[waiter.id] = nil
            }
        }
        return (waiters, startNext())
    }

    /// Removes a waiter. Returns it, and the task of a transfer that has no waiters left.
    mutating func cancel(_ id: UInt64) -> (waiter: Waiter?, task: Task<Void, Never>?) {
        guard let target = targets.removeValue(forKey: id), var job = jobs[target],
            let index = job.waiters.firstIndex(where: { $0.id == id })
        else { return (nil, nil) }
        let waiter = job.waiters.remove(at: index)
        if job.waiters.isEmpty {
            // If the transfer waits, it is skipped when its turn comes. If it is in flight, it counts as active until
            // it has ended.
            jobs[target] = nil
            return (waiter, job.task)
        }
        jobs[target] = job
        return (waiter, nil)
    }

    private mutating func startNext() -> Job? {
        guard activeCount < maxActive else { return nil }
        for priority in [Priority.high, .normal, .low] {
            while let (id, target) = waitingJobs[priority]?.take(last: isLastInFirstOut) {
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

/// The waiting transfers of one priority, in order of arrival. It may contain transfers that were removed or started
/// meanwhile; the caller skips them.
private struct PriorityQueue: Sendable {
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
#endif
