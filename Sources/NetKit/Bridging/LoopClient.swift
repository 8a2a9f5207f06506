internal import CNetCore

/// What the loop thread does for Swift between two looks at its sockets: resumes the tasks whose requests ended in
/// this round, all at once, and runs the executor's jobs.
@safe final class LoopClient: Sendable {
    private struct Jobs: Sendable {
        var queued: [(UnownedJob, LoopExecutor)] = []
        var ends: [Waiter] = []
        var isEnded = false
    }

    private let jobs = Lock(Jobs())
    fileprivate let passed: (@Sendable () -> Void)?
    fileprivate let saveFailed: @Sendable (NetError) -> Void
    // SAFETY: include/netcore/engine.h: on_done, burst_done and drain all run on the one loop thread, and these are
    // touched from nowhere else.
    private nonisolated(unsafe) var endedHere: [Waiter] = []  // of tasks on the loop's executor
    private nonisolated(unsafe) var endedElsewhere: [Waiter] = []
    private nonisolated(unsafe) var filled: [StreamSink] = []
    private nonisolated(unsafe) var running: [(UnownedJob, LoopExecutor)] = []
    private nonisolated(unsafe) var ranCount = 0  // of those

    /// - Parameters:
    ///   - passed: hears of each point that the engine passes, on whatever thread; may cancel, and nothing else.
    ///   - saveFailed: hears, on the loop thread, of a file that could not be saved.
    init(passed: (@Sendable () -> Void)?, saveFailed: @escaping @Sendable (NetError) -> Void) {
        self.passed = passed
        self.saveFailed = saveFailed
    }

    /// On the loop thread, from on_done.
    func resumeAfterRound(_ waiter: Waiter, onLoop: Bool) {
        if onLoop {
            unsafe endedHere.append(waiter)
        } else {
            unsafe endedElsewhere.append(waiter)
        }
    }

    fileprivate func resumeAll() {
        // Nothing that a resumption does can add another: only on_done does, later, on this thread.
        for waiter in unsafe endedHere {
            waiter.resume()
        }
        unsafe endedHere.removeAll(keepingCapacity: true)
        // Each resumption from here would wake a thread of the global executor, which runs one task and sleeps again:
        // more than one change of thread for each response. One job that resumes the others over there costs one.
        let elsewhere = unsafe endedElsewhere
        if elsewhere.count > 1 {
            unsafe endedElsewhere = []
            Task.detached(executorPreference: globalConcurrentExecutor) {
                for waiter in elsewhere {
                    waiter.resume()
                }
            }
        } else if let waiter = elsewhere.first {
            unsafe endedElsewhere.removeAll(keepingCapacity: true)
            waiter.resume()
        }
    }

    /// On the loop thread: whoever waits for this stream goes on when the round is over. The engine has to be woken.
    func flushAfterRound(_ stream: StreamSink) {
        unsafe filled.append(stream)
    }

    private func flush() {
        if unsafe filled.isEmpty {
            return
        }
        for stream in unsafe filled {
            if let parked = stream.takeWaiter() {
                resumeAfterRound(parked.waiter, onLoop: parked.isOnLoop)
            }
        }
        unsafe filled.removeAll(keepingCapacity: true)
        resumeAll()
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
        flush()
        for _ in 0..<maxJobs {
            if unsafe ranCount == running.count {
                forgetWhatRan()
                // The two rows change places, so that neither grows anew.
                jobs.withLock { unsafe swap(&$0.queued, &running) }
            }
            guard unsafe ranCount < running.count else { return false }
            let (job, executor) = unsafe running[ranCount]
            unsafe ranCount += 1
            unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
        }
        if unsafe ranCount < running.count {
            return true
        }
        forgetWhatRan()
        return jobs.withLock { !$0.queued.isEmpty }
    }

    /// Its executors keep the engine.
    private func forgetWhatRan() {
        if unsafe ranCount > 0 {
            unsafe running.removeAll(keepingCapacity: true)
            unsafe ranCount = 0
        }
    }

    /// Returns when the loop has ended.
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

    /// Who listens to the engine's points; the engine keeps it as its client.
    var trace: nc_trace {
        unsafe passed == nil
            ? nc_trace() : nc_trace(ctx: Unmanaged.passUnretained(self).toOpaque(), on_point: clientPassed)
    }

    /// The client as C sees it; the engine gives its reference back through `release`.
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
