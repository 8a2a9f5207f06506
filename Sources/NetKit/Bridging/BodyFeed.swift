internal import CNetCore

/// Feeds the body of one transfer, or the parts of its form, and its trailers to the C core. It starts the body's
/// producer, restarts it, and stores its error.
///
/// The transfer's listener references the feed until on_done. Therefore the pointer in ``cValue`` stays valid until
/// then.
@safe final class BodyFeed: Sendable {
    private enum Current {
        case none
        case pump(BodyPump)
        case reader(Body.Reader)
    }

    private let source: BodySource
    /// The feeds of a form's parts that have producers. The core reads everything else of the form itself.
    private let parts: [BodyFeed]
    /// The feed of the trailers; `nil` if their values are not computed.
    let trailers: TrailerFeed?
    // SAFETY: include/netcore/request.h: pull, seek and on_done, which ends the feed, run on the event loop thread.
    private nonisolated(unsafe) var current = Current.none
    /// The position of the next byte in the body that is sent.
    private nonisolated(unsafe) var position = 0
    // Both are `nil` after the transfer has ended. The owner is also `nil` for a body without a pump, which no task
    // produces.
    private nonisolated(unsafe) var engine: Engine?
    private nonisolated(unsafe) var owner: BodyOwner?
    private nonisolated(unsafe) var failure: (any Error)?

    /// Returns the feed for a request, or `nil` if the core needs none. This is not a failable initializer, because that
    /// would allocate the object even for the many requests without a body.
    static func feed(for request: Request<Bytes>, engine: Engine) -> BodyFeed? {
        let trailers = TrailerFeed.feed(for: request.trailers, engine: engine)
        var parts: [BodySource] = []
        switch request.body?.content {
        case .source(let source):
            return BodyFeed(source, trailers: trailers, engine: engine)
        case .multipart(let formStorage):
            parts = formStorage.form.sources
        default: break
        }
        return parts.isEmpty && trailers == nil
            ? nil : BodyFeed(.nothing, parts: parts, trailers: trailers, engine: engine)
    }

    private init(
        _ source: BodySource, parts: [BodySource] = [], trailers: TrailerFeed? = nil, engine: Engine
    ) {
        self.source = source
        self.trailers = trailers
        self.parts = parts.map { BodyFeed($0, engine: engine) }
        unsafe self.engine = engine
        if case .pump = source.maker {
            unsafe owner = BodyOwner()
        }
    }

    /// The C values of the feeds of a form's parts, in order.
    var partSources: [nc_body_source] { unsafe parts.map { unsafe $0.cValue } }

    /// Ends the feed and returns the producer's error, if there was one. Called by on_done on the event loop thread;
    /// after that, the core pulls nothing.
    func end() -> (any Error)? {
        unsafe engine = nil
        unsafe owner = nil
        stop()
        let partErrors = parts.map { $0.end() }
        let trailerError = trailers?.end()
        return unsafe failure ?? partErrors.lazy.compactMap(\.self).first ?? trailerError
    }

    private func stop() {
        if case .pump(let pump) = unsafe current {
            pump.close()
        }
        unsafe current = .none
    }

    fileprivate func pull(
        _ id: UInt64, into buffer: UnsafeMutableBufferPointer<UInt8>, filled: inout Int
    ) -> nc_pull {
        do {
            switch unsafe current {
            case .none:
                guard let engine = unsafe engine else { return .NC_PULL_END }
                unsafe current = try begin(id, on: engine)
                return unsafe pull(id, into: buffer, filled: &filled)
            case .pump(let pump):
                return try unsafe pump.take(into: buffer, filled: &filled)
            case .reader(let read):
                var span = unsafe buffer.mutableSpan
                filled = try BodySource.checked(read(&span), upTo: buffer.count)
                return filled > 0 ? .NC_PULL_MORE : .NC_PULL_END
            }
        } catch {
            unsafe failure = error
            return .NC_PULL_FAIL
        }
    }

    private func begin(_ id: UInt64, on engine: Engine) throws -> Current {
        switch source.maker {
        case .reader(let make):
            return .reader(try make(unsafe source.offset + position))
        case .pump(let run):
            guard let owner = unsafe owner else { throw NetError(.internal, "the request body has no owner") }
            let offset = unsafe source.offset + position
            return .pump(BodyPump({ put in try await run(offset, put) }, id: id, engine: engine, for: owner))
        }
    }

    /// Restarts the source at a byte of the body, and returns false if that is not possible. A source that has not
    /// started yet needs no restart, even if it is not repeatable.
    fileprivate func seek(to offset: UInt64) -> Bool {
        guard let offset = Int(exactly: offset) else { return false }
        if case .none = unsafe current {
            unsafe position = offset
            return true
        }
        guard source.isRepeatable else { return false }
        stop()
        unsafe position = offset
        return true
    }

    /// The C value of this feed, with a pointer to it.
    var cValue: nc_body_source {
        unsafe nc_body_source(ctx: Unmanaged.passUnretained(self).toOpaque(), pull: feedPull, seek: feedSeek)
    }
}

private func feedPull(
    _ context: UnsafeMutableRawPointer?, _ id: UInt64, _ bytes: UnsafeMutablePointer<UInt8>, _ capacity: Int,
    _ filled: UnsafeMutablePointer<Int>
) -> nc_pull {
    guard let context = unsafe context else { return .NC_PULL_FAIL }
    let buffer = unsafe UnsafeMutableBufferPointer(start: bytes, count: capacity)
    return unsafe Unmanaged<BodyFeed>.fromOpaque(context).takeUnretainedValue().pull(
        id, into: buffer, filled: &filled.pointee)
}

private func feedSeek(_ context: UnsafeMutableRawPointer?, _ id: UInt64, _ offset: UInt64) -> Bool {
    guard let context = unsafe context else { return false }
    return unsafe Unmanaged<BodyFeed>.fromOpaque(context).takeUnretainedValue().seek(to: offset)
}

/// Starts the producers of a transfer's body with the priority and the task-local values of the sending task.
///
/// The event loop thread, which requests the start, has neither. Therefore this object creates a task in the sending
/// task, and that task starts the producers. It ends when the last reference to this object is released.
final class BodyOwner: Sendable {
    private let starts: AsyncStream<@Sendable () -> Void>.Continuation

    /// Must be called in the sending task.
    init() {
        let (stream, starts) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        self.starts = starts
        Task {
            for await begin in stream {
                begin()
            }
        }
    }

    deinit {
        starts.finish()
    }

    /// Runs `start`, which creates the producer's task, in the task that inherits from the sender.
    func begin(_ start: @escaping @Sendable () -> Void) {
        starts.yield(start)
    }
}
