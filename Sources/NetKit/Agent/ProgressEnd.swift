// Every call has one end that its progress hears of, also one that comes to nothing before anything moves.

extension Agent {
    /// Counts a call of this request; where none may begin any more, it is over.
    @inline(__always)
    func enter(_ request: Request<some Sendable>) throws(NetError) {
        if !flights.enter() {
            request.progress?(.over)
            throw Flights.closed
        }
    }

    /// As ``completed(_:limits:)``, for a call that nobody else ends: what cannot be completed is over.
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
    /// Lets its progress hear of one end, whoever tells it; returns what tells it, nil where nobody wants to know.
    mutating func endProgressOnce() -> (@Sendable () -> Void)? {
        guard let tell = progress.map(TransferProgress.ending) else { return nil }
        progress = tell
        return { tell(.over) }
    }
}

extension TransferProgress {
    /// The last word, as whoever ends a call says it: how far that came is known to ``ending(_:)``.
    static var over: TransferProgress {
        var progress = TransferProgress()
        progress.isOver = true
        return progress
    }

    /// A handler for one call, whose last word is what was told before it, and over.
    static func ending(_ tell: @escaping @Sendable (TransferProgress) -> Void) -> @Sendable (TransferProgress) -> Void {
        let last = Lock(TransferProgress())
        return { progress in
            let word = last.withLock { last -> TransferProgress? in
                if last.isOver {
                    return nil  // A transfer that others wait for may go on.
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
