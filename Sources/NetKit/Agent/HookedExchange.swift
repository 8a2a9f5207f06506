/// A transfer with hooks for redirects and for the response head.
struct HookedExchange {
    let exchange: Exchange
    let hooks: TransferHooks
    let call: Call

    /// Returns the final response, as the hooks decide.
    func answer() async throws(NetError) -> Answer {
        let policy = call.request.redirects ?? .follow
        var course = call
        var trail = RedirectTrail()
        // Each hop is a separate transfer, but credentials belong to the call's first origin.
        var home = call.request.url
        if hooks.redirect != nil {
            course.request.redirects = .return
        }
        while true {
            let answer: Answer
            let following: Request<Bytes>?
            do throws(NetError) {
                answer = try await once(course, from: home)
                following = try await next(after: answer, of: course, policy, count: trail.count)
            } catch {
                throw trail.leading(to: error)
            }
            guard let next = following else {
                let whole = trail.leading(to: answer)
                return isDownload ? whole : try await judged(whole, of: course)
            }
            if trail.count == 0 {
                home = home.secured(as: answer.metrics.first?.url)
            }
            await answer.leave()
            trail.add(answer)
            course.request = next
            course.request.redirects = .return
            course.request.limits = next.limits ?? call.request.limits  // A hook may send its own request.
            do throws(NetError) {
                course.request = try call.budget.bounding(course.request, isExact: true)
            } catch {
                throw trail.leading(to: error)
            }
            trail.goesOn()
        }
    }

    /// A download calls the hook before it opens its file.
    private var isDownload: Bool { call.request.download != nil }

    /// Returns the head before its body, so that a hook can decide first. Only a download writes a file here.
    private func once(_ call: Call, from home: String) async throws(NetError) -> Answer {
        if let ask = hooks.head, let plan = call.request.download {
            plan.judge = judge(of: call, asking: ask)
            defer { plan.judge = nil }
            return try await exchange.plain(call, hooks, from: home)
        }
        if isDownload {
            return try await exchange.plain(call, hooks, from: home)
        }
        var request = call.request
        request.savePath = nil
        if call.kind != .stream {
            request.limits?.maxBodyBytes = nil  // The limit of the response, not of redirects.
            if let progress = request.progress {
                // The end of a call is reported behind the chain.
                request.progress = { if !$0.isOver { progress($0) } }
            }
        }
        return Answer(try await exchange.stream(request, hooks, call.watch, from: home))
    }

    // MARK: Redirects

    private func next(
        after answer: Answer, of course: Call, _ policy: RedirectPolicy, count: Int
    ) async throws(NetError) -> Request<Bytes>? {
        guard let ask = hooks.redirect else { return nil }
        var head = ResponseHead(of: answer)
        head.url = head.url.isEmpty ? course.request.url.withoutUserinfo : head.url
        let step: RedirectStep
        do throws(NetError) {
            guard let found = try RedirectStep(head, after: course.request, policy: policy, count: count) else {
                return nil
            }
            step = found
        } catch {
            throw error.telling(answer.response)
        }
        let decision: RedirectAnswer
        do {
            decision = try await call.budget.answer(of: "the redirect's hook") { try await ask(step) }
        } catch {
            throw NetError(asking: error, .stoppedByCaller, "the redirect's hook failed", response: answer.response)
        }
        let next: Request<Bytes>
        switch decision {
        case .follow: next = step.next
        case .send(let other): next = other
        case .deliver: return nil
        case .fail(let error):
            throw NetError(
                asking: error, .redirectRefused, "a hook refused the redirect", response: answer.response)
        }
        if next.body?.isRepeatable == false {
            throw NetError(
                .notRewindable, "a redirect asks for a body that can be sent once only", response: answer.response)
        }
        if isDownload {
            // Its transfer reports only the head of a file.
            call.watch?.tell(.headReceived(head), of: course.request)
        }
        call.watch?.tell(.redirected(head, to: next.url), of: course.request)
        var kept = next
        kept.tap = course.request.tap
        return kept
    }

    // MARK: The head

    private func judged(_ answer: Answer, of course: Call) async throws(NetError) -> Answer {
        guard case .stream(let stream) = answer.body else { return answer }
        let head = stream.headOnly
        switch try await decision(on: answer, head, of: course) {
        case .cancel:
            throw NetError(.cancelled, "a hook cancelled the transfer at its head", response: head)
        case .download(let path):
            return try await saved(stream, to: path)
        case .stream:
            return answer
        case .allow:
            break
        }
        if call.kind == .stream {
            return answer
        }
        if call.kind == .save, let path = call.request.savePath, (200..<300).contains(answer.status) {
            try call.request.checkHead(head, types: nil)
            return try await saved(stream, to: path)
        }
        return Answer(try await stream.whole(upTo: call.request.limits?.maxBodyBytes))
    }

    private func decision(
        on answer: Answer, _ head: Response<Bytes>, of course: Call
    ) async throws(NetError) -> HeadAnswer {
        guard let ask = hooks.head else { return .allow }
        let decision: HeadAnswer
        do {
            decision = try await call.budget.answer(of: "the head's hook") {
                try await ask(course.request, ResponseHead(of: answer))
            }
        } catch {
            throw NetError(asking: error, .stoppedByCaller, "the head's hook failed", response: head)
        }
        call.watch?.tell(.headDecided(decision), of: course.request)
        return decision
    }

    private typealias HeadHook = @Sendable (Request<Bytes>, ResponseHead) async throws -> HeadAnswer

    private func judge(of course: Call, asking ask: @escaping HeadHook) -> DownloadPlan.Judge {
        var request = course.request
        request.download = nil  // It has the hook.
        return { [request, watch = call.watch, budget = call.budget] head throws(NetError) in
            let decision: HeadAnswer
            do {
                decision = try await budget.answer(of: "the head's hook") { try await ask(request, head) }
            } catch {
                throw NetError(asking: error, .stoppedByCaller, "the head's hook failed", response: nil)
            }
            watch?.tell(.headDecided(decision), of: request)
            return decision
        }
    }

    private func saved(_ stream: ResponseStream, to path: String) async throws(NetError) -> Answer {
        try await withTaskExecutorPreference(DiskExecutor()) { () async throws(NetError) in
            try await write(stream, to: path)
        }
    }

    @concurrent
    private func write(_ stream: ResponseStream, to path: String) async throws(NetError) -> Answer {
        let file = try WholeFile(path)
        var count = 0
        let maxBytes = call.request.limits?.maxBodyBytes ?? .max
        for try await chunk in stream {
            if chunk.count > maxBytes - count {
                throw NetError(.bodyTooLarge, "the body is larger than \(maxBytes) bytes", response: stream.headOnly)
            }
            try file.write(chunk)
            count += chunk.count
        }
        try file.keep()
        return Answer(stream.source.ending ?? stream.headOnly, in: SavedFile(path: path, byteCount: count))
    }
}

extension Call {
    /// Whether a save depends on its head.
    var checksBeforeSaving: Bool { kind == .save && request.download == nil && request.refusesSomeHeads }
}

extension Request {
    /// Whether a file may be refused by its head: then the body must not replace the old file while it arrives.
    var refusesSomeHeads: Bool {
        let statuses = acceptedStatuses ?? 200..<300
        return acceptedTypes != nil || statuses.lowerBound > 200 || statuses.upperBound < 300
    }
}
