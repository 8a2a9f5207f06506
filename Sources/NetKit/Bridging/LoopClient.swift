internal import CNetCore

/// Runs Swift code on the event loop thread between two polls: it resumes the tasks whose transfers ended in this round
/// of the loop, and runs the jobs of ``LoopExecutor``.
@safe final class LoopClient: Sendable {
    private struct Jobs: Sendable {
        var queued: [(UnownedJob, LoopExecutor)] = []
        var ends: [Waiter] = []
        var isEnded = false
    }

    private let jobs = Lock(Jobs())
    fileprivate let passed: (@Sendable () -> Void)?
    fileprivate let saveFailed: @Sendable (NetError) -> Void
    // SAFETY: include/netcore/engine.h: on_done, burst_done and drain all run on the one event loop thread, and only
    // they access these.
    private nonisolated(unsafe) var waitersOnLoop: [Waiter] = []  // waiters of tasks on the loop's executor
    private nonisolated(unsafe) var otherWaiters: [Waiter] = []
    private nonisolated(unsafe) var streamsToFlush: [StreamSink] = []
    private nonisolated(unsafe) var running: [(UnownedJob, LoopExecutor)] = []
    private nonisolated(unsafe) var finishedCount = 0  // the number of jobs in `running` that have run

    /// - Parameters:
    ///   - passed: called at each trace point of the engine, on any thread. It may cancel transfers, but must do
    ///     nothing else.
    ///   - saveFailed: called on the event loop thread when a file, such as the cookie file, could not be saved.
    init(passed: (@Sendable () -> Void)?, saveFailed: @escaping @Sendable (NetError) -> Void) {
        self.passed = passed
        self.saveFailed = saveFailed
    }

    /// Resumes a waiter at the end of the loop's current round. Called by on_done on the event loop thread.
    func resumeAfterRound(_ waiter: Waiter, onLoop: Bool) {
        if onLoop {
            unsafe waitersOnLoop.append(waiter)
        } else {
            unsafe otherWaiters.append(waiter)
        }
    }

    fileprivate func resumeAll() {
        // Resuming a waiter cannot change these arrays: only on_done does, and it runs on this thread too.
        for waiter in unsafe waitersOnLoop {
            waiter.resume()
        }
        unsafe waitersOnLoop.removeAll(keepingCapacity: true)
        // Resuming each waiter here would wake a thread of the global executor for each of them. One job that resumes
        // all of them wakes only one thread.
        let waiters = unsafe otherWaiters
        if waiters.count > 1 {
            unsafe otherWaiters = []
            Task.detached(executorPreference: globalConcurrentExecutor) {
                for waiter in waiters {
                    waiter.resume()
                }
            }
        } else if let waiter = waiters.first {
            unsafe otherWaiters.removeAll(keepingCapacity: true)
            waiter.resume()
        }
    }

    /// Resumes the waiting reader of a stream after the current round. Called on the event loop thread; the caller must
    /// wake the engine.
    func flushAfterRound(_ stream: StreamSink) {
        unsafe streamsToFlush.append(stream)
    }

    private func flush() {
        if unsafe streamsToFlush.isEmpty {
            return
        }
        for stream in unsafe streamsToFlush {
            if let reader = stream.takeWaiter() {
                resumeAfterRound(reader.waiter, onLoop: reader.isOnLoop)
            }
        }
        unsafe streamsToFlush.removeAll(keepingCapacity: true)
        resumeAll()
    }

    /// Queues a job. Returns true if the caller must wake the loop.
    func enqueue(_ job: UnownedJob, on executor: LoopExecutor) -> Bool {
        jobs.withLock { jobs in
            jobs.queued.append((job, executor))
            return jobs.queued.count == 1
        }
    }

    /// Removes and returns all queued jobs, if the loop has ended and will not run them.
    func takeQueued() -> [UnownedJob] {
        jobs.withLock { jobs in
            defer { jobs.queued = [] }
            return jobs.queued.map { $0.0 }
        }
    }

    fileprivate func drain(_ maxJobs: Int) -> Bool {
        flush()
        for _ in 0..<maxJobs {
            if unsafe finishedCount == running.count {
                releaseFinishedJobs()
                // The arrays are swapped, so that both keep their capacity.
                jobs.withLock { unsafe swap(&$0.queued, &running) }
            }
            guard unsafe finishedCount < running.count else { return false }
            let (job, executor) = unsafe running[finishedCount]
            unsafe finishedCount += 1
            unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }
        if unsafe finishedCount < running.count {
            return true
        }
        releaseFinishedJobs()
        return jobs.withLock { !$0.queued.isEmpty }
    }

    /// Releases the jobs that have run. Their executors would otherwise keep the engine alive.
    private func releaseFinishedJobs() {
        if unsafe finishedCount > 0 {
            unsafe running.removeAll(keepingCapacity: true)
            unsafe finishedCount = 0
        }
    }

    /// Waits until the loop has ended.
    func waitForEnd() async {
        await Waiter.wait { waiter in
            let isEnded = jobs.withLock { jobs in
                if !jobs.isEnded {
                    jobs.ends.append(waiter)
                }
                return jobs.isEnded
            }
            if isEnded {
                waiter.resume()
            }
        }
    }

    fileprivate func loopEnded() {
        let ends = jobs.withLock { jobs in
            jobs.isEnded = true
            defer { jobs.ends = [] }
            return jobs.ends
        }
        for waiter in ends {
            waiter.resume()
        }
    }

    /// The C value that receives the engine's trace points. It stays valid because the engine references this client.
    var trace: nc_trace {
        unsafe passed == nil
            ? nc_trace() : nc_trace(ctx: Unmanaged.passUnretained(self).toOpaque(), on_point: clientPassed)
    }

    /// The C value of the client. The engine releases its reference by calling `release`.
    var cValue: nc_loop_client {
        unsafe nc_loop_client(
            ctx: Unmanaged.passUnretained(self).toOpaque(), drain: clientDrain, burst_done: clientBurstDone,
            release: clientRelease, save_failed: clientSaveFailed)
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

private func clientSaveFailed(_ context: UnsafeMutableRawPointer?, _ error: UnsafePointer<nc_error>) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<LoopClient>.fromOpaque(context).takeUnretainedValue().saveFailed(NetError(error.pointee))
}

private func clientPassed(_ context: UnsafeMutableRawPointer?, _ point: nc_trace_point, _ id: nc_transfer_id) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<LoopClient>.fromOpaque(context).takeUnretainedValue().passed?()
}

/// Runs tasks on the engine's event loop thread, for callers that choose this. It saves the thread switch, which is the
/// largest cost of an awaited request. A job that blocks stalls all transfers. Jobs are never dropped.
final class LoopExecutor: TaskExecutor {
    private let engine: Engine
    private let client: LoopClient

    init(engine: Engine, client: LoopClient) {
        self.engine = engine
        self.client = client
    }

    func enqueue(_ job: consuming ExecutorJob) {
        // A queued job retains this executor, and so the engine. But the job may run and end before this function
        // returns, and the runtime's reference ends with the job. Therefore this function needs a reference of its own.
        let retained = unsafe Unmanaged.passRetained(self)
        defer { unsafe retained.release() }
        if client.enqueue(UnownedJob(job), on: self), !engine.wake() {
            for orphan in client.takeQueued() {
                globalConcurrentExecutor.enqueue(orphan)
            }
        }
    }
}
