public import NetKit

extension Agent {
    /// Sends the uploads of a queue, several concurrently.
    ///
    /// Returns when the task is cancelled or the agent is invalidated. Returns immediately if another call of this
    /// function is sending the queue.
    ///
    /// An upload stays in the queue and is sent again later after:
    /// - a temporary failure, or one of the statuses 408, 429, 502, 503 and 504
    /// - an open circuit, or a cancelled transfer
    /// - a duplicate in flight (`RequestDeduplication`)
    /// - a cellular connection that it must not use
    /// - exhausted descriptors or memory
    /// - a credential refresh that failed for one of these reasons
    ///
    /// Any other outcome removes it from the queue.
    /// - Parameters:
    ///   - queue: the queue.
    ///   - untilEmpty: whether to return when the queue is empty.
    public func upload(_ queue: UploadQueue, untilEmpty: Bool = false) async {
        await queue.drain(untilEmpty: untilEmpty) { request throws(NetError) in
            try await self.send(request)
        }
    }
}

extension UploadQueue {
    /// Sends the current and later uploads. Returns when the Swift task is cancelled, or when the agent accepts no more
    /// requests. If `untilEmpty` is true, it also returns when the queue is empty.
    func drain(
        untilEmpty: Bool, by send: @escaping @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async {
        let isFirst = state.withLock { state in
            defer { state.isDraining = true }
            if !state.isDraining {
                state.isStopping = false
            }
            return !state.isDraining
        }
        guard isFirst else { return }
        await withTaskGroup { group in
            for _ in 0..<maxConcurrent {
                group.addTask { await self.sendUploads(untilEmpty, send) }
            }
        }
        state.withLock { $0.isDraining = false }
    }

    /// Sends one upload after the other. `drain` runs `maxConcurrent` of these loops concurrently.
    private func sendUploads(
        _ untilEmpty: Bool, _ send: @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async {
        while !Task.isCancelled {
            let now = time.now()
            switch state.withLock({ $0.next(at: now, untilEmpty: untilEmpty) }) {
            case .send(let upload):
                switch await attempt(upload, send) {
                case .ended(let outcome): end(outcome, of: upload.id)
                case .retry(let retryAfter):
                    if !Task.isCancelled {
                        delay(upload, retryAfter: retryAfter)
                    }
                case .closed: state.withLock { $0.isStopping = true }
                }
                let change = state.withLock { state in
                    state.inFlight.remove(upload.id)
                    return state.renewChange()
                }
                change.fulfil(.success(()))
            case .wait(let change, let delay):
                await wait(for: change, atMost: delay)
            case .end:
                return
            }
        }
    }

    private enum Attempt {
        case ended(OfflineQueue.Outcome)
        /// The upload stays in the queue and is tried again later. The value is the Retry-After time of the server, if
        /// it sent one.
        case retry(after: Duration?)
        /// The agent accepts no more requests. All uploads stay in the queue, and nothing more is sent.
        case closed
    }

    private func attempt(
        _ upload: QueuedRequest, _ send: @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async -> Attempt {
        if upload.expiresAt <= time.epochSeconds() {
            return .ended(.expired(upload))
        }
        do throws(NetError) {
            var request = upload.request
            try await prepare(&request)
            request.isOfQueue = true
            let response = try await send(request)
            return QueueRules.temporaryStatuses.contains(response.status)
                ? .retry(after: requestedWait(response.headers)) : .ended(.answered(upload, response))
        } catch {
            if error.code == .closed {
                return .closed
            }
            return QueueRules.isTemporary(error)
                ? .retry(after: error.response.flatMap { requestedWait($0.headers) }) : .ended(.failed(upload, error))
        }
    }

    private func requestedWait(_ headers: Headers) -> Duration? {
        RetryAfter.wait(headers, epochSeconds: time.epochSeconds())
    }

    private func wait(for change: Promise<Void>, atMost delay: Duration?) async {
        guard let delay else {
            _ = try? await change.value()
            return
        }
        await withTaskGroup { group in
            group.addTask { _ = try? await change.value() }
            group.addTask { [time] in try? await time.sleep(delay) }
            _ = await group.next()
            group.cancelAll()
        }
    }
}
