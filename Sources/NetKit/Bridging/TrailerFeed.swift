internal import CNetCore

/// Computes the trailers of one transfer in a task, and passes their values to the C core.
@safe final class TrailerFeed: Sendable {
    private enum Progress: Sendable {
        case idle
        case computing(Task<Void, Never>?)
        /// The value of each announced field; `nil` is not sent.
        case ready([Headers.Field?])
        case failed(any Error)
        case ended
    }

    private struct State: Sendable {
        var progress = Progress.idle
        /// Whether the core has values of this computation already.
        var wasRead = false
        // `nil` after the transfer has ended, so that a task that never returns does not keep the engine alive.
        var engine: Engine?
        var owner: BodyOwner?
    }

    private let names: [String]
    private let compute: @Sendable () async throws -> Headers
    private let state: Lock<State>

    /// Returns the feed of a request's trailers, or `nil` if their values are not computed.
    static func feed(for trailers: Trailers?, engine: Engine) -> TrailerFeed? {
        guard let trailers, case .computed(let compute) = trailers.values else { return nil }
        return TrailerFeed(trailers.fields.map(\.name), compute, engine: engine)
    }

    private init(_ names: [String], _ compute: @escaping @Sendable () async throws -> Headers, engine: Engine) {
        self.names = names
        self.compute = compute
        state = Lock(State(engine: engine, owner: BodyOwner()))
    }

    /// Cancels the task, and returns its error if it has failed. Called on the event loop thread, after which the core
    /// requests no value.
    func end() -> (any Error)? {
        // The engine and the owner are returned so that they are released outside the lock.
        let (progress, _, _) = state.withLock { state in
            defer {
                state.progress = .ended
                state.engine = nil
                state.owner = nil
            }
            return (state.progress, state.engine, state.owner)
        }
        switch progress {
        case .computing(let task):
            task?.cancel()
            return nil
        case .failed(let error): return error
        case .idle, .ready, .ended: return nil
        }
    }

    /// Appends the value of a field, or starts the task. Called on the event loop thread.
    fileprivate func append(_ index: Int, of id: UInt64, to value: UnsafeMutablePointer<nc_buf>) -> nc_trailer_result {
        let (progress, starting) = state.withLock { state -> (Progress, BodyOwner?) in
            if case .ready = state.progress, index == 0, state.wasRead {
                state.progress = .idle  // The body was sent again.
            }
            if case .idle = state.progress {
                state.progress = .computing(nil)
                state.wasRead = false
                return (state.progress, state.owner)
            }
            if case .ready = state.progress {
                state.wasRead = true
            }
            return (state.progress, nil)
        }
        starting?.begin { [self] in begin(id) }
        switch progress {
        case .ready(let fields):
            guard index < fields.count, let field = fields[index] else { return .NC_TRAILER_OMIT }
            unsafe field.bytes.withSlice { unsafe nc_buf_append(value, $0) }
            return .NC_TRAILER_SEND
        case .idle, .computing: return .NC_TRAILER_LATER
        case .failed, .ended: return .NC_TRAILER_FAIL
        }
    }

    private func begin(_ id: UInt64) {
        let task = Task {
            do {
                finish(.ready(try Self.inOrder(await compute(), of: names)), id)
            } catch {
                finish(.failed(error), id)
            }
        }
        // The task may have ended already, or the transfer.
        let isOver = state.withLock { state in
            switch state.progress {
            case .computing:
                state.progress = .computing(task)
                return false
            case .ended: return true
            case .idle, .ready, .failed: return false
            }
        }
        if isOver {
            task.cancel()
        }
    }

    private func finish(_ progress: Progress, _ id: UInt64) {
        let engine = state.withLock { state -> Engine? in
            guard case .computing = state.progress else { return nil }
            state.progress = progress
            return state.engine
        }
        engine?.resume(id, from: .NC_PAUSE_SOURCE)
    }

    /// Returns the fields in the order of the names. Throws if a field was not announced.
    private static func inOrder(_ computed: Headers, of names: [String]) throws(NetError) -> [Headers.Field?] {
        var remaining = Array(computed)
        let fields = names.map { name -> Headers.Field? in
            remaining.firstIndex { $0.name.isEqualIgnoringASCIICase(to: name) }.map { remaining.remove(at: $0) }
        }
        if let unknown = remaining.first {
            throw NetError(
                .bodySource, "the trailer \(unknown.name) was computed but not announced: add it to the names")
        }
        return fields
    }

    /// The C function and its context.
    func describe(_ trailers: inout nc_trailers) {
        unsafe trailers.compute = feedTrailer
        unsafe trailers.ctx = Unmanaged.passUnretained(self).toOpaque()
    }
}

private func feedTrailer(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ index: Int, _ value: UnsafeMutablePointer<nc_buf>
) -> nc_trailer_result {
    guard let context = unsafe context else { return .NC_TRAILER_FAIL }
    return unsafe Unmanaged<TrailerFeed>.fromOpaque(context).takeUnretainedValue().append(index, of: id, to: value)
}
