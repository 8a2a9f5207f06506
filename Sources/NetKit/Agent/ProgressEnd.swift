// Every call reports one end to its progress handler, even if it fails before any byte moves.

extension Agent {
    /// Counts a call of this request. Throws, and reports its end, if the agent is closed.
    @inline(__always)
    func enter(_ request: Request<some Sendable>) throws(NetError) {
        if !flights.enter() {
            request.progress?(.over)
            throw Flights.closed
        }
    }

    /// Returns ``completed(_:limits:)``, and reports the end if that fails, for calls without another end.
    @inline(__always)
    func completedOrOver(_ request: Request<some Sendable>, limits: KeptLimits) throws(NetError) -> Request<Bytes> {
        do throws(NetError) {
            return try completed(request, limits: limits)
        } catch {
            request.progress?(.over)
            throw error
        }
    }
}

extension Request {
    /// Makes its progress report one end, from any of several places. Returns the closure that reports it, or `nil`
    /// without a handler.
    mutating func endProgressOnce() -> (@Sendable () -> Void)? {
        guard let tell = progress.map(TransferProgress.ending) else { return nil }
        progress = tell
        return { tell(.over) }
    }
}

extension TransferProgress {
    /// The end as reported by the end of a call; ``ending(_:)`` adds the last counts.
    static var over: TransferProgress {
        var progress = TransferProgress()
        progress.isOver = true
        return progress
    }

    /// Returns a handler for one call whose last value has the previous counts and `isOver`.
    static func ending(_ tell: @escaping @Sendable (TransferProgress) -> Void) -> @Sendable (TransferProgress) -> Void {
        let last = Lock(TransferProgress())
        return { progress in
            let word = last.withLock { last -> TransferProgress? in
                if last.isOver {
                    return nil  // A transfer that other callers wait for may continue.
                }
                if progress.isOver {
                    last.isOver = true
                } else {
                    last = progress
                }
                return last
            }
            if let word {
                tell(word)
            }
        }
    }
}
