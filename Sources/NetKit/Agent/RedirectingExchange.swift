/// Follows redirects for a call with hooks, and calls the hooks for redirects and for the response head.
struct RedirectingExchange {
    let callRunner: CallRunner
    let hooks: TransferHooks
    let call: Call

    /// Sends the request, follows redirects as the hooks decide, and returns the final response.
    func response() async throws(NetError) -> ChainResponse {
        let policy = call.request.redirects
        var current = call
        var history = RedirectHistory()
        // With a redirect hook, each hop is a separate transfer. Only the origin of the first one receives credentials.
        var originURL = call.request.url
        if hooks.redirect != nil {
            current.request.redirects = .return
        }
        while true {
            let response: ChainResponse
            let nextRequest: Request<Bytes>?
            do throws(NetError) {
                response = try await transferOnce(current, from: originURL)
                nextRequest = try await next(after: response, of: current, policy, count: history.count)
            } catch {
                throw history.prepending(to: error)
            }
            guard let next = nextRequest else {
                let complete = history.prepending(to: response)
                return isDownload ? complete : try await applyingHeadHook(to: complete, of: current)
            }
            if history.count == 0 {
                originURL = originURL.secured(as: response.metrics.first?.url)
            }
            await response.discardBody()
            history.add(response)
            current.request = next
            current.request.redirects = .return
            // A hook may return its own request, which has not inherited the limits.
            current.request.limits = next.limits.over(call.request.limits)
            do throws(NetError) {
                current.request = try call.budget.bounding(current.request, isExact: true)
            } catch {
                throw history.prepending(to: error)
            }
            history.beginTransfer()
        }
    }

    /// Whether the call is a download. A download calls the head hook itself, before it opens its file.
    private var isDownload: Bool { call.request.download != nil }

    /// Runs one transfer. Except for a download, the result is a stream, so that a hook can decide about the head
    /// before the body is read.
    private func transferOnce(_ call: Call, from originURL: String) async throws(NetError) -> ChainResponse {
        if let hook = hooks.head, let plan = call.request.download {
            plan.headHandler = headHandler(of: call, calling: hook)
            defer { plan.headHandler = nil }
            return try await callRunner.transfer(call, hooks, from: originURL)
        }
        if isDownload || call.kind == .webSocket {
            return try await callRunner.transfer(call, hooks, from: originURL)
        }
        var request = call.request
        request.savePath = nil
        if call.kind != .stream {
            request.limits.maxBodyBytes = nil  // It applies to the final response only and is checked there.
            if let progress = request.progress {
                // A transfer's end is not the end of the call, which is reported after the chain.
                request.progress = { if !$0.isOver { progress($0) } }
            }
        }
        return ChainResponse(try await callRunner.stream(request, hooks, call.watch, from: originURL))
    }

    // MARK: Redirects

    private func next(
        after response: ChainResponse, of current: Call, _ policy: RedirectPolicy, count: Int
    ) async throws(NetError) -> Request<Bytes>? {
        guard let hook = hooks.redirect else { return nil }
        var head = ResponseHead(of: response)
        head.url = head.url.isEmpty ? current.request.url.withoutUserinfo : head.url
        if call.kind == .webSocket, let location = head.headers["Location"] {
            head.headers["Location"] = location.withHTTPScheme
        }
        let step: RedirectStep
        do throws(NetError) {
            guard let found = try RedirectStep(head, after: current.request, policy: policy, count: count) else {
                return nil
            }
            step = found
        } catch {
            throw error.attaching(response.response)
        }
        let decision: RedirectResponse
        do {
            decision = try await call.budget.run("the redirect hook") { try await hook(step) }
        } catch {
            throw NetError(wrapping: error, .stoppedByCaller, "the redirect hook failed", response: response.response)
        }
        let next: Request<Bytes>
        switch decision {
        case .follow: next = step.next
        case .send(let other): next = other
        case .deliver: return nil
        case .fail(let error):
            throw NetError(
                wrapping: error, .redirectRefused, "the redirect hook refused the redirect", response: response.response
            )
        }
        if next.body?.isRepeatable == false {
            throw NetError(
                .notRewindable, "the redirect requires the body again, but the body can be sent only once",
                response: response.response)
        }
        if isDownload {
            // The transfer of a download reports only the head whose body is written to the file.
            call.watch?.report(.headReceived(head), of: current.request)
        }
        call.watch?.report(.redirected(head, to: next.url), of: current.request)
        var observed = next
        observed.transferObserver = current.request.transferObserver
        return observed
    }

    // MARK: The head

    private func applyingHeadHook(to response: ChainResponse, of current: Call) async throws(NetError) -> ChainResponse
    {
        guard case .stream(let stream) = response.body else { return response }
        let head = stream.headOnly
        switch try await decision(on: response, head, of: current) {
        case .cancel:
            throw NetError(.cancelled, "the response head hook cancelled the transfer", response: head)
        case .download(let path):
            return try await saved(stream, to: path)
        case .stream:
            return response
        case .allow:
            break
        }
        if call.kind == .stream {
            return response
        }
        if call.kind == .save, let path = call.request.savePath, (200..<300).contains(response.status) {
            try call.request.checkHead(head, types: nil)
            return try await saved(stream, to: path)
        }
        return ChainResponse(try await stream.whole(upTo: call.request.limits.maxBodyBytes))
    }

    private func decision(
        on response: ChainResponse, _ head: Response<Bytes>, of current: Call
    ) async throws(NetError) -> ResponseDisposition {
        guard let hook = hooks.head else { return .allow }
        let decision: ResponseDisposition
        do {
            decision = try await call.budget.run("the response head hook") {
                try await hook(current.request, ResponseHead(of: response))
            }
        } catch {
            throw NetError(wrapping: error, .stoppedByCaller, "the response head hook failed", response: head)
        }
        call.watch?.report(.headDecided(decision), of: current.request)
        return decision
    }

    private typealias HeadHook = @Sendable (Request<Bytes>, ResponseHead) async throws -> ResponseDisposition

    private func headHandler(of current: Call, calling hook: @escaping HeadHook) -> DownloadPlan.HeadHandler {
        var request = current.request
        request.download = nil  // The download plan refers to this closure: a reference cycle.
        return { [request, watch = call.watch, budget = call.budget] head throws(NetError) in
            let decision: ResponseDisposition
            do {
                decision = try await budget.run("the response head hook") { try await hook(request, head) }
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the response head hook failed", response: nil)
            }
            watch?.report(.headDecided(decision), of: request)
            return decision
        }
    }

    private func saved(_ stream: ResponseStream, to path: String) async throws(NetError) -> ChainResponse {
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await write(stream, to: path)
        }
    }

    @concurrent
    private func write(_ stream: ResponseStream, to path: String) async throws(NetError) -> ChainResponse {
        let file = try WholeFile(path)
        var count = 0
        let maxBytes = call.request.limits.maxBodyBytes ?? .max
        for try await chunk in stream {
            if chunk.count > maxBytes - count {
                throw NetError(
                    .bodyTooLarge, "the body is larger than the limit of \(maxBytes) bytes (limits.maxBodyBytes)",
                    response: stream.headOnly)
            }
            try file.write(chunk)
            count += chunk.count
        }
        try file.keep()
        return ChainResponse(stream.source.ending ?? stream.headOnly, in: DownloadedFile(path: path, byteCount: count))
    }
}

extension Call {
    /// Whether the response head of a save has to be checked before the body is written.
    var checksBeforeSaving: Bool { kind == .save && request.download == nil && request.refusesSomeHeads }
}

extension Request {
    /// Whether the request refuses some successful responses because of their heads. Then the body must not be written
    /// to the file before the head is checked.
    fileprivate var refusesSomeHeads: Bool {
        let range = acceptedStatuses.checkedRange
        return acceptedTypes != nil || range.lowerBound > 200 || range.upperBound < 300
    }
}
