internal import CNetCore

/// The source that the core pulls one transfer's body from, or the parts of its form: starts it, restarts it, and keeps
/// its error.
///
/// The transfer's sink keeps it, and so its context, until on_done.
@safe final class BodyFeed: Sendable {
    private enum Current {
        case none
        case pump(BodyPump)
        case reader(Body.Reader)
    }

    private let source: BodySource
    /// The feeds of a form's parts; the core reads the form itself.
    private let parts: [BodyFeed]
    // SAFETY: include/netcore/request.h: pull, rewind and on_done, which ends the feed, run on the event loop thread.
    private nonisolated(unsafe) var current = Current.none
    // `nil` after the transfer has ended. The owner is also `nil` for bodies that no task produces.
    private nonisolated(unsafe) var engine: Engine?
    private nonisolated(unsafe) var owner: BodyOwner?
    private nonisolated(unsafe) var failure: (any Error)?

    /// Returns the feed for a body, or `nil` if the core has the whole body. A failing initializer would allocate its
    /// object first, and most requests have no body.
    static func feed(for body: Body?, engine: Engine) -> BodyFeed? {
        switch body?.content {
        case .source(let source):
            return BodyFeed(source, engine: engine)
        case .multipart(let kept):
            let sources = kept.form.sources
            return sources.isEmpty ? nil : BodyFeed(.nothing, parts: sources, engine: engine)
        default:
            return nil
        }
    }

    private init(_ source: BodySource, parts: [BodySource] = [], engine: Engine) {
        self.source = source
        self.parts = parts.map { BodyFeed($0, engine: engine) }
        unsafe self.engine = engine
        if case .pump = source.maker {
            unsafe owner = BodyOwner()
        }
    }

    /// The sources of a form's parts, in order.
    var partSources: [nc_body_source] { unsafe parts.map { unsafe $0.cValue } }

    /// Ends the feed, from on_done on the event loop thread: no more is pulled. Returns the producer's error.
    func end() -> (any Error)? {
        unsafe engine = nil
        unsafe owner = nil
        stop()
        let thrown = parts.map { $0.end() }
        return unsafe failure ?? thrown.lazy.compactMap(\.self).first
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
            return .reader(try make())
        case .pump(let run):
            guard let owner = unsafe owner else { throw NetError(.internal, "a body is made on behalf of nobody") }
            return .pump(BodyPump(run, id: id, engine: engine, for: owner))
        }
    }

    /// A source that has not started can start, repeatable or not.
    fileprivate func rewind() -> Bool {
        if case .none = unsafe current {
            return true
        }
        guard source.isRepeatable else { return false }
        stop()
        return true
    }

    /// The C value of the source.
    var cValue: nc_body_source {
        unsafe nc_body_source(ctx: Unmanaged.passUnretained(self).toOpaque(), pull: feedPull, rewind: feedRewind)
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

private func feedRewind(_ context: UnsafeMutableRawPointer?, _ id: UInt64) -> Bool {
    guard let context = unsafe context else { return false }
    return unsafe Unmanaged<BodyFeed>.fromOpaque(context).takeUnretainedValue().rewind()
}
