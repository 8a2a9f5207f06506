internal import CNetCore

/// The Swift work of the event loop thread between two polls: resumes the tasks whose requests ended in this round, and
/// runs the executor's jobs.
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
    private nonisolated(unsafe) var endedHere: [Waiter] = []  // of tasks on the loop's executor
    private nonisolated(unsafe) var endedElsewhere: [Waiter] = []
    private nonisolated(unsafe) var filled: [StreamSink] = []
    private nonisolated(unsafe) var running: [(UnownedJob, LoopExecutor)] = []
    private nonisolated(unsafe) var ranCount = 0  // of those

    /// - Parameters:
    ///   - passed: called at each trace point of the engine, on any thread; may cancel, and nothing else.
    ///   - saveFailed: called on the event loop thread for a file that could not be saved.
    init(passed: (@Sendable () -> Void)?, saveFailed: @escaping @Sendable (NetError) -> Void) {
        self.passed = passed
        self.saveFailed = saveFailed
    }

    /// Called from on_done, on the event loop thread.
    func resumeAfterRound(_ waiter: Waiter, onLoop: Bool) {
        if onLoop {
            unsafe endedHere.append(waiter)
        } else {
            unsafe endedElsewhere.append(waiter)
        }
    }

    fileprivate func resumeAll() {
        // A resumption cannot add another: only on_done does, later, on this thread.
        for waiter in unsafe endedHere {
            waiter.resume()
        }
        unsafe endedHere.removeAll(keepingCapacity: true)
        // Each resumption from here would wake a thread of the global executor for one task: more than one thread
        // switch for each response. One job that resumes all of them costs one.
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

    /// Resumes this stream's waiting reader after the round, on the event loop thread. The engine has to be woken.
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

    /// Queues a job. Returns true if the loop has to be woken.
    func enqueue(_ job: UnownedJob, on executor: LoopExecutor) -> Bool {
        jobs.withLock { jobs in
            jobs.queued.append((job, executor))
            return jobs.queued.count == 1
        }
    }

    /// Returns the jobs that no loop will run any more.
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
                // The two arrays are swapped, so that neither has to grow again.
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

    /// Their executors retain the engine.
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

    /// The receiver of the engine's trace points; the engine keeps it as its client.
    var trace: nc_trace {
        unsafe passed == nil
            ? nc_trace() : nc_trace(ctx: Unmanaged.passUnretained(self).toOpaque(), on_point: clientPassed)
    }

    /// The C value of the client; the engine releases its reference through `release`.
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
