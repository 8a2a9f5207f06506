internal import CNetCore

/// A bounded queue of pieces between a task that produces a body and the event loop thread that sends it.
///
/// The task waits while the queue is full; the transfer pauses while it is empty.
@safe final class BodyPump: Sendable {
    /// The largest number of queued bytes. A larger piece is queued alone.
    private static let maxBytes = 256 << 10

    fileprivate struct State: Sendable {
        var pieces: [Bytes] = []
        var first = 0  // index of the current piece
        var offset = 0  // position in it
        var waiting = 0  // bytes
        var isStarved = false  // the last pull reported that no bytes are available yet
        var isFinished = false
        var isClosed = false
        var failure: (any Error)?
        var maker: Waiter?
        var task: Task<Void, Never>?
        // `nil` after the transfer has ended: a producer that never returns keeps no engine.
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
        // The task's end may come before this; a task that has ended must keep nothing alive.
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
        let (starved, isClosed, isFull) = state.withLock { state in
            if !state.isClosed {
                state.pieces.append(piece)
                state.waiting += piece.count
            }
            return (state.takeStarved(), state.isClosed, state.waiting >= Self.maxBytes)
        }
        if isClosed {
            throw CancellationError()
        }
        starved?.resume(id, from: .NC_REST_SOURCE)
        if isFull {
            await waitForRoom()
        }
    }

    /// Waits for room. close() resumes it, so that a cancelled transfer never leaves its producer waiting.
    private func waitForRoom() async {
        await Waiter.wait { waiter in
            let hasRoom = state.withLock { state in
                let hasRoom = state.isClosed || state.waiting < Self.maxBytes
                state.maker = hasRoom ? nil : waiter
                return hasRoom
            }
            if hasRoom {
                waiter.resume()
            }
        }
    }

    private func finish(_ failure: (any Error)?) {
        let starved = state.withLock { state in
            state.isFinished = true
            state.failure = failure
            state.task = nil
            return state.takeStarved()
        }
        starved?.resume(id, from: .NC_REST_SOURCE)
    }

    /// Moves queued bytes, on the event loop thread. Throws the task's error after the bytes before it.
    func take(into buffer: UnsafeMutableBufferPointer<UInt8>, filled: inout Int) throws -> nc_pull {
        let (count, maker, pull, failure) = state.withLock { state in
            let count = unsafe state.move(into: buffer)
            var maker: Waiter?
            if state.waiting < Self.maxBytes / 2 {
                maker = state.maker
                state.maker = nil
            }
            let pull: nc_pull = count > 0 ? .NC_PULL_MORE : state.isFinished ? .NC_PULL_END : .NC_PULL_LATER
            state.isStarved = pull == .NC_PULL_LATER
            return (count, maker, pull, count == 0 ? state.failure : nil)
        }
        maker?.resume()
        if let failure {
            throw failure
        }
        filled = count
        return pull
    }

    /// Ends the queue, on the event loop thread.
    func close() {
        // The engine is released outside the lock, like everything else here.
        let (task, maker, _, _) = state.withLock { state in
            defer {
                state.task = nil
                state.maker = nil
                state.engine = nil
                state.pieces = []
            }
            state.isClosed = true
            return (state.task, state.maker, state.engine, state.pieces)
        }
        task?.cancel()
        maker?.resume()
    }
}

extension BodyPump.State {
    /// Returns the engine if it waits for bytes and there are some now.
    fileprivate mutating func takeStarved() -> Engine? {
        defer { isStarved = false }
        return isStarved ? engine : nil
    }

    fileprivate mutating func move(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var count = 0
        while count < buffer.count, first < pieces.count {
            let piece = pieces[first]
            let taken = min(piece.count - offset, buffer.count - count)
            piece.withSpan { span in
                unsafe span.extracting(offset..<offset + taken).withUnsafeBufferPointer { bytes in
                    let room = unsafe UnsafeMutableRawBufferPointer(
                        UnsafeMutableBufferPointer(rebasing: buffer[count...]))
                    unsafe room.copyMemory(from: UnsafeRawBufferPointer(bytes))
                }
            }
            count += taken
            offset += taken
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
        waiting -= count
        return count
    }
}
