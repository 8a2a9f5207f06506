extension Agent {
    /// Returns the request tasks that have not ended, oldest first. Calls of `send(_:)` appear only in ``transfers()``,
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

    /// Cancels the request task with this number (``CallHandle/id``). Returns false if it has ended or belongs to
    /// another agent.
    @discardableResult
    public func cancel(id: Run.ID) -> Bool {
        registry[id]?.cancel() ?? false
    }

    /// Cancels all request tasks with this tag. Returns the number that were cancelled before they ended.
    @discardableResult
    public func cancel(tag: Int) -> Int {
        registry.cancel { $0.run.tag == tag }
    }

    /// Cancels all request tasks that were started from a value of this type, and no others. Returns the number that
    /// were cancelled before they ended.
    @discardableResult
    public func cancel<Call: RequestConvertible>(every type: Call.Type) -> Int {
        registry.cancel { $0.group == ObjectIdentifier(type) }
    }

    /// Cancels all request tasks for this path. Returns the number that were cancelled before they ended.
    ///
    /// Without a method, transfers of this path that were sent without a request task are cancelled too.
    /// - Parameters:
    ///   - path: a path as in a request: relative to the base URL, or absolute. Queries are ignored.
    ///   - method: the method; `nil` matches any.
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

    /// Cancels all request tasks and all transfers.
    public func cancelAll() {
        registry.cancel { _ in true }
        cancelTransfers { _ in true }
    }

    /// Cancels one transfer with ``NetError/Code/cancelled``. Does nothing if it has ended.
    public func cancel(_ id: TransferInfo.ID) {
        control?.cancel(id)
    }

    /// Pauses the request task with this number, as ``CallHandle/pause()``. Does nothing if it has ended.
    public func pause(id: Run.ID) {
        registry[id]?.setPaused(true)
    }

    /// Resumes the request task with this number. Does nothing if it has ended.
    public func resume(id: Run.ID) {
        registry[id]?.setPaused(false)
    }

    /// Pauses everything that is in flight or waits, until ``resumeAll()``. Later requests are not paused;
    /// ``suspend()`` holds those back.
    public func pauseAll() {
        for run in registry.all {
            run.setPaused(true)
        }
        for transfer in transfers() {
            pause(transfer.id)
        }
    }

    /// Resumes everything that was paused.
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

    /// Returns the URL as far as it is known without calling asynchronous sources.
    private func completedURL(of request: Request<Bytes>) -> String {
        let completed =
            (try? preparedNow(Call(request)).request) ?? (try? completed(request, limits: limits))
        return completed?.url ?? request.url
    }
}
