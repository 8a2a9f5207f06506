internal import CNetCore
internal import Synchronization

/// What the loop thread does for Swift between two looks at its sockets: resumes the tasks whose requests ended in
/// this round, all at once, and runs the executor's jobs.
///
/// Resuming at the end of a round, not one by one, lets the global executor wake up once for a burst of responses.
@safe final class LoopClient: Sendable {
    private typealias Resumption = (Waiter<TransferSink.Outcome>, TransferSink.Outcome)

    private struct Jobs {
        var queued: [(UnownedJob, LoopExecutor)] = []
        var ends: [CheckedContinuation<Void, Never>] = []
        var isEnded = false
    }

    private let jobs = Mutex(Jobs())
    // SAFETY: include/netcore/engine.h: on_done, burst_done and drain all run on the one loop thread, and these are
    // touched from nowhere else.
    private nonisolated(unsafe) var resumptions: [Resumption] = []
    private nonisolated(unsafe) var running: ArraySlice<(UnownedJob, LoopExecutor)> = []

    /// On the loop thread, from on_done.
    func resumeAfterRound(_ waiter: Waiter<TransferSink.Outcome>, with outcome: TransferSink.Outcome) {
        unsafe resumptions.append((waiter, outcome))
    }

    fileprivate func resumeAll() {
        // Nothing that a resumption does can add another: only on_done does, later, on this thread.
        for (waiter, outcome) in unsafe resumptions {
            waiter.resume(with: outcome)
        }
        unsafe resumptions.removeAll(keepingCapacity: true)
    }

    /// Queues a job; true when the loop has to be told.
    func enqueue(_ job: UnownedJob, on executor: LoopExecutor) -> Bool {
        jobs.withLock { jobs in
            jobs.queued.append((job, executor))
            return jobs.queued.count == 1
        }
    }

    /// Takes what no loop will run any more.
    func takeQueued() -> [UnownedJob] {
        jobs.withLock { jobs in
            defer { jobs.queued = [] }
            return jobs.queued.map { $0.0 }
        }
    }

    fileprivate func drain(_ maxJobs: Int) -> Bool {
        for _ in 0..<maxJobs {
            if unsafe running.isEmpty {
                unsafe running = jobs.withLock { jobs in
                    defer { jobs.queued = [] }
                    return jobs.queued[...]
                }
            }
            guard let (job, executor) = unsafe running.popFirst() else { return false }
            unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }
        return unsafe !running.isEmpty || jobs.withLock { !$0.queued.isEmpty }
    }

    /// Returns when the loop has ended.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let isEnded = jobs.withLock { jobs in
                if !jobs.isEnded {
                    jobs.ends.append(continuation)
                }
                return jobs.isEnded
            }
            if isEnded {
                continuation.resume()
            }
        }
    }

    fileprivate func loopEnded() {
        let ends = jobs.withLock { jobs in
            jobs.isEnded = true
            defer { jobs.ends = [] }
            return jobs.ends
        }
        for continuation in ends {
            continuation.resume()
        }
    }

    /// The client as C sees it; the engine gives its reference back through `release`.
    var cValue: nc_loop_client {
        unsafe nc_loop_client(
            ctx: Unmanaged.passUnretained(self).toOpaque(), drain: clientDrain, burst_done: clientBurstDone,
            release: clientRelease)
    }
}

private func clientDrain(_ context: UnsafeMutableRawPointer?, _ maxJobs: UInt32) -> Bool {
    guard let context = unsafe context else { return false }
    return unsafe Unmanaged<LoopClient>.fromOpaque(context).takeUnretainedValue().drain(Int(maxJobs))
}

private func clientBurstDone(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<LoopClient>.fromOpaque(context).takeUnretainedValue().resumeAll()
}

private func clientRelease(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<LoopClient>.fromOpaque(context).takeRetainedValue().loopEnded()
}
