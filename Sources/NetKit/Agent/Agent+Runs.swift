extension Agent {
    /// What was started and is not over, the first started first; calls of `send(_:)` are among ``transfers()`` alone,
    /// unless they have a ``Request/tag``, accessories or hooks.
    public func runs() -> [Run] {
        let controls = registry.all
        let waiting = Set(
            controls.contains { $0.ticket.transfer != nil }
                ? transfers().lazy.filter { $0.state == .waiting }.map(\.id) : [])
        return controls.map { control in
            var run = control.run
            if run.state == .running, let transfer = control.ticket.transfer, waiting.contains(transfer) {
                run.state = .waiting
            }
            return run
        }
    }

    /// Cancels the start of this number, see ``CallHandle/id``; false when it is over, or is none of this agent's.
    @discardableResult
    public func cancel(id: Run.ID) -> Bool {
        registry[id]?.cancel() ?? false
    }

    /// Cancels all starts with this tag; returns how many it was in time for.
    @discardableResult
    public func cancel(tag: Int) -> Int {
        registry.cancel { $0.run.tag == tag }
    }

    /// Cancels all starts that this type describes, whatever they ask, and nobody else's; returns how many it was in
    /// time for.
    @discardableResult
    public func cancel<Call: RequestConvertible>(every type: Call.Type) -> Int {
        registry.cancel { $0.group == ObjectIdentifier(type) }
    }

    /// Cancels all starts that ask for this path; returns how many it was in time for.
    ///
    /// Without a method, transfers for it that were not started but sent are cancelled, too.
    /// - Parameters:
    ///   - path: as a request would have it, relative to the base URL or not; queries do not count.
    ///   - method: nil is any.
    @discardableResult
    public func cancel(path: String, method: Method? = nil) -> Int {
        let place = CallPlace(path, completed: completedURL(of: Request<Bytes>(path)))
        let count = registry.cancel { run in
            guard let request = run.request, method == nil || request.method == method else { return false }
            return place.matches(CallPlace(request.url, completed: completedURL(of: request)))
        }
        if method == nil {
            cancelTransfers { place.matches(CallPlace($0.url, completed: $0.url)) }
        }
        return count
    }

    /// Cancels everything: what was started, and what was only sent.
    public func cancelAll() {
        registry.cancel { _ in true }
        cancelTransfers { _ in true }
    }

    /// Ends one transfer with ``NetError/Code/cancelled``; one that has ended is ignored.
    public func cancel(_ id: TransferInfo.ID) {
        control?.cancel(id)
    }

    /// Holds up the start of this number, as ``CallHandle/pause()``; one that is over is ignored.
    public func pause(id: Run.ID) {
        registry[id]?.setPaused(true)
    }

    /// Lets the start of this number go on; one that is over is ignored.
    public func resume(id: Run.ID) {
        registry[id]?.setPaused(false)
    }

    /// Holds up everything that is under way or waits, until ``resumeAll()``; what comes later is not held up, for which
    /// there is ``suspend()``.
    public func pauseAll() {
        for run in registry.all {
            run.setPaused(true)
        }
        for transfer in transfers() {
            pause(transfer.id)
        }
    }

    /// Lets everything that was held up go on.
    public func resumeAll() {
        for run in registry.all {
            run.setPaused(false)
        }
        for transfer in transfers() {
            resume(transfer.id)
        }
    }

    private func cancelTransfers(where isMeant: (TransferInfo) -> Bool) {
        for transfer in transfers() where isMeant(transfer) {
            cancel(transfer.id)
        }
    }

    /// As far as nobody has to be asked for it.
    private func completedURL(of request: Request<Bytes>) -> String {
        let completed =
            (try? preparedNow(Call(request)).request) ?? (try? completed(request, limits: limits))
        return completed?.url ?? request.url
    }
}
