internal import Synchronization

/// The calls of an agent that are in flight, and whether more may begin.
final class Flights: Sendable {
    /// The agent to whose call or task the current Swift task belongs. Work in flight may continue to send after the
    /// agent stops accepting new calls.
    @TaskLocal static var aboard: ObjectIdentifier?

    private enum Phase {
        static let open = 0
        static let closed = 1
        static let cancelled = 2
    }

    let group = CompletionGroup()
    private let phase = Atomic(Phase.open)

    /// Whether nothing may be sent any more, not even by calls in flight.
    var isCancelled: Bool { phase.load(ordering: .relaxed) == Phase.cancelled }

    /// Whether new calls may begin.
    var isOpen: Bool { phase.load(ordering: .sequentiallyConsistent) == Phase.open }

    /// Adds a call. Returns false, and adds nothing, if it may not begin.
    func enter() -> Bool {
        group.enter()
        // `close` reads the count after it changes the phase, so one of both threads sees the other's change.
        if phase.load(ordering: .sequentiallyConsistent) == Phase.open || Self.aboard == ObjectIdentifier(self) {
            return true
        }
        group.leave()
        return false
    }

    /// As ``enter()``, but throws the error with the reason.
    func begin() throws(NetError) {
        if !enter() {
            throw Self.closed
        }
    }

    static var closed: NetError { NetError(.closed, "the agent was invalidated, and sends nothing any more") }

    /// Refuses new calls from now on. Returns false if they were already refused.
    func close(cancelling: Bool) -> Bool {
        let wanted = cancelling ? Phase.cancelled : Phase.closed
        return phase.max(wanted, ordering: .sequentiallyConsistent).oldValue == Phase.open
    }

    /// Accepts new calls again.
    func open() {
        phase.store(Phase.open, ordering: .sequentiallyConsistent)
    }

    /// Does work as part of a call in flight, on the caller's actor.
    @inline(__always)
    func aboard<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let result: Result<Value, NetError> = await Self.$aboard.withValue(ObjectIdentifier(self)) {
            _ = isolation  // Keeps the closure on the actor; otherwise its call would change threads twice.
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
    private let groups: [CompletionGroup]
    private let isOver = Atomic(false)

    /// The caller must have entered the groups.
    init(_ stream: ResponseStream, in groups: [CompletionGroup]) {
        self.stream = stream
        self.groups = groups
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
            for group in groups {
                group.leave()
            }
        }
    }
}
