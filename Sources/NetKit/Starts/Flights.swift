internal import Synchronization

/// What an agent has under way, and whether more may begin.
final class Flights: Sendable {
    /// Whose call or start the task belongs to: what is under way may go on sending when nothing new may begin.
    @TaskLocal static var aboard: ObjectIdentifier?

    private enum Phase {
        static let open = 0
        static let closed = 1
        static let cancelled = 2
    }

    let group = CompletionGroup()
    private let phase = Atomic(Phase.open)

    /// Whether nothing may be sent any more, not even by what is under way.
    var isCancelled: Bool { phase.load(ordering: .relaxed) == Phase.cancelled }

    /// Whether new ones may begin.
    var isOpen: Bool { phase.load(ordering: .sequentiallyConsistent) == Phase.open }

    /// One more begins; false when it may not, and then nothing has begun.
    func enter() -> Bool {
        group.enter()
        // Who closes looks at the count afterwards, so that one of both sees the other.
        if phase.load(ordering: .sequentiallyConsistent) == Phase.open || Self.aboard == ObjectIdentifier(self) {
            return true
        }
        group.leave()
        return false
    }

    /// As ``enter()``, with the error that says why not.
    func begin() throws(NetError) {
        if !enter() {
            throw Self.closed
        }
    }

    static var closed: NetError { NetError(.closed, "the agent was invalidated, and sends nothing any more") }

    /// Nothing new begins; false when that was so before.
    func close(cancelling: Bool) -> Bool {
        let wanted = cancelling ? Phase.cancelled : Phase.closed
        return phase.max(wanted, ordering: .sequentiallyConsistent).oldValue == Phase.open
    }

    /// New ones may begin again.
    func open() {
        phase.store(Phase.open, ordering: .sequentiallyConsistent)
    }

    /// Does something as a part of what is under way, where the caller runs.
    @inline(__always)
    func aboard<Value: Sendable>(
        isolation: isolated (any Actor)? = #isolation, _ work: () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let result: Result<Value, NetError> = await Self.$aboard.withValue(ObjectIdentifier(self)) {
            _ = isolation  // The closure stays with whom it names; else an actor's call would change threads twice.
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

/// A streamed body that is under way until it is read, has failed or is let go.
final class CountedChunks: ChunkSource {
    private let stream: ResponseStream
    private let groups: [CompletionGroup]
    private let isOver = Atomic(false)

    /// The groups have been entered.
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
