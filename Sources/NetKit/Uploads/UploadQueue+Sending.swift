extension UploadQueue {
    /// Sends the current and later uploads until the Swift task is cancelled, the queue is empty (with `untilEmpty`),
    /// or nothing more may be sent.
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
                group.addTask { await self.work(untilEmpty, send) }
            }
        }
        state.withLock { $0.isDraining = false }
    }

    /// Sends one upload after the other; `maxConcurrent` of these run concurrently.
    private func work(
        _ untilEmpty: Bool, _ send: @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async {
        while !Task.isCancelled {
            let now = time.now()
            switch state.withLock({ $0.next(at: now, untilEmpty: untilEmpty) }) {
            case .send(let upload):
                switch await attempt(upload, send) {
                case .over(let outcome): end(outcome, of: upload.id)
                case .again(let asked):
                    if !Task.isCancelled {
                        rest(upload, asked: asked)
                    }
                case .never: state.withLock { $0.isStopping = true }
                }
                let news = state.withLock { state in
                    state.underWay.remove(upload.id)
                    return state.renewed()
                }
                news.fulfil(.success(()))
            case .wait(let news, let rest):
                await wait(for: news, orFor: rest)
            case .end:
                return
            }
        }
    }

    private enum Attempt {
        case over(Outcome)
        /// The upload stays in the queue and is tried again, after the server's Retry-After if it sent one.
        case again(after: Duration?)
        /// All uploads stay in the queue, and nothing more is sent.
        case never
    }

    private func attempt(
        _ upload: QueuedRequest, _ send: @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>
    ) async -> Attempt {
        if upload.expiresAt <= time.epochSeconds() {
            return .over(.expired(upload))
        }
        do throws(NetError) {
            var request = upload.request
            try await prepare(&request)
            request.isOfQueue = true
            let response = try await send(request)
            return QueueRules.passingStatuses.contains(response.status)
                ? .again(after: askedWait(response.headers)) : .over(.answered(upload, response))
        } catch {
            if error.code == .closed {
                return .never
            }
            return QueueRules.mayPass(error)
                ? .again(after: error.response.flatMap { askedWait($0.headers) }) : .over(.failed(upload, error))
        }
    }

    private func askedWait(_ headers: Headers) -> Duration? {
        RetryAfter.wait(headers, epochSeconds: time.epochSeconds())
    }

    private func wait(for news: Promise<Void>, orFor rest: Duration?) async {
        guard let rest else {
            _ = try? await news.value()
            return
        }
        await withTaskGroup { group in
            group.addTask { _ = try? await news.value() }
            group.addTask { [time] in try? await time.sleep(rest) }
            _ = await group.next()
            group.cancelAll()
        }
    }
}
