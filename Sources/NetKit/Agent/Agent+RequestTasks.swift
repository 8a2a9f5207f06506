extension Agent {
    /// Returns the request tasks that have not ended, oldest first.
    ///
    /// A call of `send(_:)` is listed only if its request has a ``Request/tag`` or listeners. All calls appear
    /// in ``transfers()``.
    public func requestTasks() -> [RequestTask] {
        let controls = registry.all
        let waiting = Set(
            controls.contains { $0.transferHandle.transfer != nil }
                ? transfers().lazy.filter { $0.state == .waiting }.map(\.id) : [])
        return controls.map { control in
            var run = control.run
            if run.state == .running, let transfer = control.transferHandle.transfer, waiting.contains(transfer) {
                run.state = .waiting
            }
            return run
        }
    }

    /// Returns a handle of the request task with this number, even if its first handle was released. The handle has no
    /// value, but waits for the end of the task and throws its error.
    ///
    /// Returns `nil` if the task has ended or belongs to another agent.
    public func handle(of id: RequestTask.ID) -> CallHandle<Void>? {
        registry[id]?.run.handle
    }

    /// Cancels the request task with this number (``CallHandle/id``). Returns false if it has ended or belongs to
    /// another agent.
    @discardableResult
    public func cancel(id: RequestTask.ID) -> Bool {
        registry[id]?.cancel() ?? false
    }

    /// Cancels all request tasks with this tag. Returns the number that were cancelled before they ended.
    @discardableResult
    public func cancel(tag: Int) -> Int {
        registry.cancel { $0.run.tag == tag }
    }

    /// Cancels all request tasks that were started from a value of this type. Returns the number that were cancelled
    /// before they ended.
    @discardableResult
    public func cancel<Call: RequestConvertible>(every type: Call.Type) -> Int {
        registry.cancel { $0.group == ObjectIdentifier(type) }
    }

    /// Cancels all request tasks for this path. Returns the number that were cancelled before they ended.
    ///
    /// If `method` is `nil`, this also cancels transfers for this path that do not belong to a request task.
    /// - Parameters:
    ///   - path: a path as in a request, relative to the base URL, or an absolute URL. Queries are ignored.
    ///   - method: the method of the requests to cancel. If `nil`, requests with any method are cancelled.
    @discardableResult
    public func cancel(path: String, method: Method? = nil) -> Int {
        let target = RequestTarget(path, completed: completedURL(of: Request<Bytes>(path)))
        let count = registry.cancel { run in
            guard let request = run.request, method == nil || request.method == method else { return false }
            return target.matches(RequestTarget(request.url, completed: completedURL(of: request)))
        }
        if method == nil {
            cancelTransfers { target.matches(RequestTarget($0.url, completed: $0.url)) }
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

    /// Pauses all request tasks and transfers that are running or waiting, until ``resumeAll()``. Later requests are
    /// not paused; to keep them from starting, call ``suspend()``.
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

    private func cancelTransfers(where shouldCancel: (TransferInfo) -> Bool) {
        for transfer in transfers() where shouldCancel(transfer) {
            cancel(transfer.id)
        }
    }

    /// Returns the URL of the request as it would be sent, without the additions that closures compute.
    private func completedURL(of request: Request<Bytes>) -> String {
        let completed =
            (try? preparedWithoutClosures(Call(request)).request) ?? (try? completed(request, limits: limits))
        return completed?.url ?? request.url
    }

    /// Sends a request as a request task and waits for it. The task appears in ``requestTasks()``, its listeners are
    /// notified, and it can be cancelled by its tag.
    func sendListed<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try await launch(request, on: .here, StartOptions()).outcome()
    }

    /// Opens a response as a request task and waits for its head, as ``sendListed(_:)``.
    func openListed<Value>(_ request: Request<Value>) async throws(NetError) -> ChainResponse {
        var launch = RequestTaskLaunch<ChainResponse>(delivery: .here)
        let decoding = request.decoding
        launch.listeners = request.listeners.decoding { (response: ChainResponse) async throws(NetError) in
            guard case .bytes = response.body else { return Response<Value>?.none }
            return try? await self.decode(response.response, by: decoding)
        }
        var original = request
        launch.reportOutcome = original.endProgressOnce()
        original.removeListeners()
        let handle = launch.begin(control(of: request), in: registry) { [original] control async throws(NetError) in
            var request = original
            request.transferHandle = control.transferHandle
            guard let relay = ProgressRelay(control, .here) else { return try await self.openedThroughChain(request) }
            return try await relay.follow(request) { request async throws(NetError) in
                try await self.openedThroughChain(request)
            }
        }
        return try await handle.outcome()
    }
}

extension CallHandle {
    /// Waits for the outcome. Cancelling the waiting task cancels the request task.
    func outcome() async throws(NetError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await promise.outcome()
        } onCancel: {
            cancel()
        }
        return try outcome.get()
    }
}
