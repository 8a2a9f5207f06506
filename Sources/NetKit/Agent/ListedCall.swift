/// A call that an agent lists among its request tasks until its last value: a stream until the end of its body, or a
/// sequence of responses. It can be found, cancelled and paused, and notifies listeners.
final class ListedCall: Sendable {
    let control: TaskControl
    private let notifier = TaskNotifier(delivery: .here, reportsCancellation: false)
    private let over = Promise<Void>()
    private let registry: TaskRegistry
    private let isOver = Lock(false)
    private let canceller = Lock<(@Sendable () -> Void)?>(nil)

    init(_ control: TaskControl, in registry: TaskRegistry, with listeners: [any TaskListener]) {
        self.control = control
        self.registry = registry
        _ = registry.insert(control)  // The result is ignored: the call checks later whether the agent is closed.
        control.add(listeners: listeners)
    }

    /// Runs an operation in a separate task, so that cancelling the request task ends the operation but not the
    /// caller's own task.
    func perform<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let task = Task { () -> Result<Value, NetError> in
            do throws(NetError) {
                return .success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        setCanceller { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if control.isCancelled {
            throw NetError(.cancelled, "the request task was cancelled")
        }
        return try result.get()
    }

    /// Sets the closure that ends the current operation. Calls it immediately if the request task is cancelled already.
    private func setCanceller(_ cancel: @escaping @Sendable () -> Void) {
        canceller.withLock { $0 = cancel }
        if control.isCancelled {
            cancel()
        }
    }

    /// From now on, cancelling the request task ends the current operation, and calls a closure.
    func followCancellation(_ onCancel: @escaping @Sendable () -> Void = {}) {
        control.began(
            Task { [over] in
                _ = await withTaskCancellationHandler {
                    await over.outcome()
                } onCancel: {
                    self.canceller.withLock { $0 }?()
                    onCancel()
                }
            })
    }

    /// Passes an outcome that is not the last one through the listeners.
    func pass<Value: Sendable>(_ outcome: Result<Value, NetError>) async throws(NetError) -> Value {
        do throws(NetError) {
            return try await notifier.pass(outcome, of: control).get()
        } catch {
            end(with: error)
            throw error
        }
    }

    /// Passes the last outcome through the listeners, ends the task, and returns the outcome for the caller.
    @discardableResult
    func finish<Value: Sendable>(with outcome: Result<Value, NetError>) async throws(NetError) -> Value {
        if isOver.withLock({ $0 }) {
            return try outcome.get()
        }
        let prepared = await notifier.prepare(outcome, of: control)
        guard beginsEnd() else { return try prepared.get() }
        defer { over.fulfil(.success(())) }
        return try await notifier.notify(prepared, of: control) { [registry, control] in registry.remove(control) }
            .get()
    }

    /// Passes the error that ends the task through the listeners, and returns the error for the caller.
    func fail(_ error: NetError) async -> NetError {
        do throws(NetError) {
            try await finish(with: Result<Void, NetError>.failure(error))
        } catch {
            return error
        }
        return error
    }

    /// Ends the task without an outcome for its listeners, because its caller does not wait for one. Later calls do
    /// nothing.
    func end(with failure: NetError) {
        guard beginsEnd() else { return }
        _ = control.beginsStopping()
        TaskNotifier.end(control, { registry.remove(control) }, deliver: { _ in failure })
        over.fulfil(.success(()))
    }

    /// Returns true for the first call.
    private func beginsEnd() -> Bool {
        isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
    }
}

/// The body of a stream with a request task. The agent lists the task until the end of the body, so that it can be
/// found, cancelled and paused.
private final class ListedChunks: ChunkSource {
    private let stream: ResponseStream
    private let listing: ListedCall

    init(_ stream: ResponseStream, _ listing: ListedCall) {
        self.stream = stream
        self.listing = listing
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await listing.perform { [source = stream.source] () async throws(NetError) in
                try await source.next()
            }
            if let piece {
                return piece
            }
        } catch {
            throw await listing.fail(error)
        }
        try await listing.finish(with: .success(stream.headOnly.map { _ in }))
        return nil
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        listing.end(with: NetError(.cancelled, "the stream was released before its end"))
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}

extension Agent {
    /// Streams a response as a request task that ends with the body.
    func streamListed<Value>(
        _ request: Request<Value>, isChecked: Bool
    ) async throws(NetError) -> ResponseStream {
        // A stream has a value only if the value is Void.
        let listeners = request.listeners.decoding { (head: Response<Void>) in head as? Response<Value> }
        return try await openListed(request.erased, control(of: request), listeners) { request async throws(NetError) in
            try await self.streamThroughChain(request, isChecked: isChecked)
        } follow: { (stream: ResponseStream, listing) in
            listing.followCancellation { [source = stream.source] in source.abandon(isSuperseded: false) }
            return stream.replaced(by: ListedChunks(stream, listing))
        }
    }

    /// Opens a stream or a socket that is listed as a request task until its end.
    ///
    /// The opening runs in a task of its own, so that cancelling the request task ends it but not the caller's task.
    /// - Parameters:
    ///   - open: sends the request.
    ///   - follow: connects what was opened with its request task, and returns the value for the caller.
    func openListed<Opened: Sendable, Value>(
        _ request: Request<Bytes>, _ control: TaskControl, _ listeners: [any TaskListener],
        _ open: @escaping @Sendable (Request<Bytes>) async throws(NetError) -> Opened,
        follow: (Opened, ListedCall) throws(NetError) -> Value
    ) async throws(NetError) -> Value {
        let listing = ListedCall(control, in: registry, with: listeners)
        var request = request
        request.removeListeners()
        request.transferHandle = control.transferHandle
        let reportOutcome = request.endProgressOnce()
        let opening = Promise<Opened>()
        let task = Task { [request] in
            do throws(NetError) {
                try await control.waitWhilePaused()
                opening.fulfil(.success(try await open(request)))
            } catch {
                reportOutcome?()
                opening.fulfil(.failure(error))
            }
        }
        control.began(task)
        let outcome = await withTaskCancellationHandler {
            await opening.outcome()
        } onCancel: {
            control.cancel()
        }
        do throws(NetError) {
            return try follow(try outcome.get(), listing)
        } catch {
            throw await listing.fail(error)
        }
    }
}
