internal import CNetCore

/// A bounded queue of pieces between a task that produces a body and the event loop thread that sends it.
///
/// The task waits while the queue is full; the transfer pauses while it is empty.
@safe final class BodyPump: Sendable {
    /// The largest number of queued bytes. A larger piece is queued alone.
    private static let maxBytes = 256 << 10

    fileprivate struct State: Sendable {
        var pieces: [Bytes] = []
        var first = 0  // the index of the first piece with unread bytes
        var offset = 0  // the position of the next unread byte in that piece
        var queuedBytes = 0
        var needsResume = false  // the last pull found no bytes, so the transfer is paused
        var isFinished = false
        var isClosed = false
        var failure: (any Error)?
        var producer: Waiter?
        var task: Task<Void, Never>?
        // `nil` after the transfer has ended, so that a producer that never returns does not keep the engine alive.
        var engine: Engine?
    }

    private let state: Lock<State>
    private let id: UInt64

    init(
        _ run: @escaping @Sendable (BodySource.Put) async throws -> Void, id: UInt64, engine: Engine,
        for owner: BodyOwner
    ) {
        self.id = id
        state = Lock(State(engine: engine))
        owner.begin { [self] in begin(run) }
    }

    private func begin(_ run: @escaping @Sendable (BodySource.Put) async throws -> Void) {
        let task = Task {
            do {
                try await run { piece in try await put(piece) }
                finish(nil)
            } catch {
                finish(error)
            }
        }
        // The task may have ended already. A task that has ended is not stored, so that it keeps nothing alive.
        let isOver = state.withLock { state in
            state.task = state.isFinished ? nil : task
            return state.isClosed
        }
        if isOver {
            task.cancel()
        }
    }

    /// Adds a piece, in the producing task, and waits while the queue is full.
    private func put(_ piece: Bytes) async throws {
        try Task.checkCancellation()
        if piece.isEmpty {
            return
        }
        let (engineToResume, isClosed, isFull) = state.withLock { state in
            if !state.isClosed {
                state.pieces.append(piece)
                state.queuedBytes += piece.count
            }
            return (state.takeEngineToResume(), state.isClosed, state.queuedBytes >= Self.maxBytes)
        }
        if isClosed {
            throw CancellationError()
        }
        engineToResume?.resume(id, from: .NC_PAUSE_SOURCE)
        if isFull {
            await waitForRoom()
        }
    }

    /// Waits until the queue has room. `close()` also ends the wait, so that the producer of a cancelled transfer does
    /// not wait forever.
    private func waitForRoom() async {
        await Waiter.wait { waiter in
            let hasRoom = state.withLock { state in
                let hasRoom = state.isClosed || state.queuedBytes < Self.maxBytes
                state.producer = hasRoom ? nil : waiter
                return hasRoom
            }
            if hasRoom {
                waiter.resume()
            }
        }
    }

    private func finish(_ failure: (any Error)?) {
        let engineToResume = state.withLock { state in
            state.isFinished = true
            state.failure = failure
            state.task = nil
            return state.takeEngineToResume()
        }
        engineToResume?.resume(id, from: .NC_PAUSE_SOURCE)
    }

    /// Moves queued bytes into the core's buffer. If the task has thrown an error, throws it after all earlier bytes
    /// were moved. Called on the event loop thread.
    func take(into buffer: UnsafeMutableBufferPointer<UInt8>, filled: inout Int) throws -> nc_pull {
        let (count, producer, pull, failure) = state.withLock { state in
            let count = unsafe state.move(into: buffer)
            var producer: Waiter?
            if state.queuedBytes < Self.maxBytes / 2 {
                producer = state.producer
                state.producer = nil
            }
            let pull: nc_pull = count > 0 ? .NC_PULL_MORE : state.isFinished ? .NC_PULL_END : .NC_PULL_LATER
            state.needsResume = pull == .NC_PULL_LATER
            return (count, producer, pull, count == 0 ? state.failure : nil)
        }
        producer?.resume()
        if let failure {
            throw failure
        }
        filled = count
        return pull
    }

    /// Discards the queue and cancels the producing task. Called on the event loop thread.
    func close() {
        // These values are returned so that they are released outside the lock.
        let (task, producer, _, _) = state.withLock { state in
            defer {
                state.task = nil
                state.producer = nil
                state.engine = nil
                state.pieces = []
            }
            state.isClosed = true
            return (state.task, state.producer, state.engine, state.pieces)
        }
        task?.cancel()
        producer?.resume()
    }
}

extension BodyPump.State {
    /// Returns the engine if the transfer is paused because it waits for bytes. Called after bytes were added or the
    /// body has ended.
    fileprivate mutating func takeEngineToResume() -> Engine? {
        defer { needsResume = false }
        return needsResume ? engine : nil
    }

    fileprivate mutating func move(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        while count < buffer.count, first < pieces.count {
            let piece = pieces[first]
            let moved = min(piece.count - offset, buffer.count - count)
            piece.withSpan { span in
                unsafe span.extracting(offset..<offset + moved).withUnsafeBufferPointer { bytes in
                    let room = unsafe UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                    unsafe room.copyMemory(from: UnsafeRawBufferPointer(bytes))
                }
            }
            count += moved
            offset += moved
            if offset == piece.count {
                pieces[first] = []
                first += 1
                offset = 0
            }
        }
        if first == pieces.count {
            pieces.removeAll(keepingCapacity: true)
            first = 0
        } else if first > pieces.count / 2 {
            pieces.removeFirst(first)
            first = 0
        }
        queuedBytes -= count
        return count
    }
}
