internal import Synchronization

/// Counts the calls of an agent that are in flight, and decides whether new calls may begin.
final class InFlightRequests: Sendable {
    /// The agent for which the current Swift task runs a call. After the agent has stopped accepting new calls, code in
    /// such a task may still send requests.
    @TaskLocal static var currentAgent: ObjectIdentifier?

    private enum Phase {
        static let open = 0
        static let closed = 1
        static let cancelled = 2
    }

    let group = CallCount()
    private let phase = Atomic(Phase.open)

    /// Whether requests are refused, even those of calls in flight.
    var isCancelled: Bool { phase.load(ordering: .relaxed) == Phase.cancelled }

    /// Whether new calls may begin.
    var isOpen: Bool { phase.load(ordering: .sequentiallyConsistent) == Phase.open }

    /// Adds a call to the count. If the call may not begin, returns false and does not add it.
    func enter() -> Bool {
        group.enter()
        // `close` changes the phase before it reads the count, and this thread changes the count before it reads the
        // phase. So at least one of the threads sees the other's change.
        if phase.load(ordering: .sequentiallyConsistent) == Phase.open || Self.currentAgent == ObjectIdentifier(self) {
            return true
        }
        group.leave()
        return false
    }

    /// Adds a call like ``enter()``, but throws an error if the call may not begin.
    func begin() throws(NetError) {
        if !enter() {
            throw Self.closed
        }
    }

    static var closed: NetError { NetError(.closed, "the agent was invalidated and accepts no more requests") }

    /// Refuses new calls from now on, and with `cancelling` also requests of calls in flight. Returns false if new
    /// calls were already refused.
    func close(cancelling: Bool) -> Bool {
        let newPhase = cancelling ? Phase.cancelled : Phase.closed
        return phase.max(newPhase, ordering: .sequentiallyConsistent).oldValue == Phase.open
    }

    /// Accepts new calls again.
    func open() {
        phase.store(Phase.open, ordering: .sequentiallyConsistent)
    }

    /// Runs `work` as part of a call in flight, on the caller's actor.
    @inline(__always)
    func currentAgent<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let result: Result<Value, NetError> = await Self.$currentAgent.withValue(ObjectIdentifier(self)) {
            _ = isolation  // Capturing `isolation` keeps the closure on the actor, which saves two thread switches.
            do throws(NetError) {
                return .success(try await work())
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw error
        }
    }
}

/// A streamed body that counts as in flight until it is read, has failed or is released.
final class CountedChunks: ChunkSource {
    private let stream: ResponseStream
    private let group: CallCount
    private let isOver = Atomic(false)

    /// - Parameter group: the group that the caller has entered. It is left when the stream ends.
    init(_ stream: ResponseStream, in group: CallCount) {
        self.stream = stream
        self.group = group
    }

    deinit {
        end()
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await stream.source.next()
            if piece == nil {
                end()
            }
            return piece
        } catch {
            end()
            throw error
        }
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        end()
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }

    private func end() {
        if !isOver.exchange(true, ordering: .relaxed) {
            group.leave()
        }
    }
}

/// The number of pending calls. Callers can wait until all of them have ended. Thread-safe.
final class CallCount: Sendable {
    // The count is stored in the bits above bit 0. Bit 0 is set after a caller has begun to wait.
    private static let increment = 2
    private let countAndFlag = Atomic(0)
    private let waiters = Lock<[Int: CheckedContinuation<Void, Never>]>([:])
    private let waiterNumbers = Atomic(0)

    /// The number of pending calls.
    var count: Int { countAndFlag.load(ordering: .acquiring) / Self.increment }

    /// Adds one to the count.
    func enter() {
        countAndFlag.add(Self.increment, ordering: .relaxed)
    }

    /// Subtracts one from the count.
    func leave() {
        let newValue = countAndFlag.subtract(Self.increment, ordering: .acquiringAndReleasing).newValue
        if newValue == 1 {
            release()
        }
    }

    /// Returns when the group is empty, or when the Swift task is cancelled.
    func wait() async {
        let number = waiterNumbers.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiters.withLock { $0[number] = continuation }
                countAndFlag.bitwiseOr(1, ordering: .acquiringAndReleasing)
                release()
                if Task.isCancelled {
                    stopWaiting(number)
                }
            }
        } onCancel: {
            stopWaiting(number)
        }
    }

    /// Resumes the waiters if the group is empty. The count is checked again under the lock, because another thread may
    /// have entered the group meanwhile.
    private func release() {
        let waiters = waiters.withLock { waiters in
            guard count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { waiters = [:] }
            return Array(waiters.values)
        }
        for continuation in waiters {
            continuation.resume()
        }
    }

    private func stopWaiting(_ number: Int) {
        waiters.withLock { $0.removeValue(forKey: number) }?.resume()
    }
}
