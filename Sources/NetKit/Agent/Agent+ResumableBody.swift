extension Agent {
    /// Sends a request and writes the body to its output, or to memory. After each pause it continues with a Range
    /// request.
    ///
    /// - Parameter control: the request task's control, which can interrupt the transfer. `nil` if there is no task.
    func sendResumably<Value>(
        _ request: Request<Value>, _ control: TaskControl?
    ) async throws(NetError) -> Response<Value> {
        var bodyRequest = request.erased
        let reportOutcome = bodyRequest.endProgressOnce()
        defer { reportOutcome?() }
        let limit = request.limits.over(configuration.limits).maxBodyBytes
        let memory = request.output == nil ? MemoryOutput(maxBytes: limit ?? .max) : nil
        bodyRequest.expectation = nil
        bodyRequest.output = nil
        // A body in memory is checked at its end; other bodies are checked while they arrive.
        let requestWithExpectation = memory == nil && request.expectation != nil ? request.erased : nil
        var body = ResumableBody(
            bodyRequest, output: request.output ?? memory ?? MemoryOutput(maxBytes: 0),
            requestWithExpectation: requestWithExpectation)
        while true {
            try await control?.waitWhilePaused()
            let attempt = await attempt(body, control) { head throws(NetError) in
                try request.checkHead(
                    head, types: request.decoding.types, statuses: self.acceptedStatuses(of: request))
            }
            body = attempt.body
            if case .failure = attempt.result, attempt.wasInterrupted, !Task.isCancelled {
                continue
            }
            var received = try attempt.result.get()
            guard let memory else { return try await decode(received, by: request.decoding) }
            received.bytes = memory.bytes
            received.value = received.bytes
            return try await checkedAndDecoded(received, by: request)
        }
    }

    private func attempt(
        _ body: ResumableBody, _ control: TaskControl?,
        _ check: @escaping @Sendable (Response<Bytes>) throws(NetError) -> Void
    ) async -> Attempt {
        let mayStart = Promise<Void>()
        let task = Task {
            _ = await mayStart.outcome()
            var body = body
            let result: Result<Response<Bytes>, NetError>
            do throws(NetError) {
                result = .success(try await self.fetch(&body, check))
            } catch {
                result = .failure(error)
            }
            return (body, result)
        }
        let wasInterrupted = Lock(false)
        control?.setInterruption {
            wasInterrupted.withLock { $0 = true }
            task.cancel()
        }
        defer { control?.setInterruption(nil) }
        // The transfer starts only after setInterruption(_:), because the receiver of the first bytes may pause the
        // task.
        mayStart.fulfil(.success(()))
        let (body, result) = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return Attempt(body: body, result: result, wasInterrupted: wasInterrupted.withLock { $0 })
    }

    /// Runs one attempt. Returns the whole response at the end of the body.
    private func fetch(
        _ body: inout ResumableBody, _ check: @Sendable (Response<Bytes>) throws(NetError) -> Void
    ) async throws(NetError) -> Response<Bytes> {
        if body.hasPartialWrite || (body.offset > 0 && !body.requestsRemainder) {
            try await startOver(&body)
        }
        if let head = body.head, body.offset == body.total {
            // The earlier attempt was paused after the last byte of the body.
            try await finish(body)
            return head
        }
        let isRemainder = body.requestsRemainder
        let shift = Lock(0)
        var stream = try await opened(body, shift)
        if body.requestsRemainder, !body.continues(with: stream.headOnly) {
            // After a response with a wrong range, or a 416, the whole body is requested. Another response is the whole
            // body.
            let isPart = stream.headOnly.isPart || stream.status == 416
            if !isPart {
                try await refuse(stream, unless: check)
            }
            try await startOver(&body)
            if isPart {
                stream.supersede()
                shift.withLock { $0 = 0 }
                stream = try await opened(body, shift)
            }
        }
        if body.offset == 0 {
            try await refuse(stream, unless: check)
            try body.begin(with: stream.headOnly)
        } else {
            body.continueBody(with: stream.headOnly)
        }
        shift.withLock { $0 = body.offset }
        for try await piece in stream {
            try body.willWrite(piece)
            try await Self.callingOutput { try await body.output.write(piece) }
            body.didWrite(piece.count)
        }
        body.attemptEnded(stream.metrics)
        if isRemainder, let total = body.total, body.offset < total {
            throw NetError(.cutShort, "the body ended at byte \(body.offset) of \(total)", response: body.head)
        }
        try await finish(body)
        return body.whole(stream)
    }

    private func finish(_ body: ResumableBody) async throws(NetError) {
        try body.finish()
        try await Self.callingOutput { try await body.output.finish() }
    }

    private func opened(_ body: ResumableBody, _ shift: Lock<Int>) async throws(NetError) -> ResponseStream {
        var request = body.next
        if let report = request.progress {
            request.progress = { progress in
                if !progress.isOver {
                    report(body.whole(progress, shift: shift.withLock { $0 }))
                }
            }
        }
        return try await stream(request, isChecked: false)
    }

    private func startOver(_ body: inout ResumableBody) async throws(NetError) {
        let output = body.output
        try await Self.callingOutput { try await output.startOver() }
        body.didEmptyOutput()
    }

    /// Throws an error with the whole body if the head is not accepted.
    private func refuse(
        _ stream: ResponseStream, unless check: @Sendable (Response<Bytes>) throws(NetError) -> Void
    ) async throws(NetError) {
        do throws(NetError) {
            try check(stream.headOnly)
        } catch {
            var received = stream.headOnly
            received.bytes = try await stream.collect(upTo: configuration.limits.maxBodyBytes ?? .max)
            received.value = received.bytes
            received.metrics = stream.metrics
            throw error.attaching(received)
        }
    }

    /// Calls the output, and converts its errors to ``NetError``.
    private static func callingOutput(_ operation: () async throws -> Void) async throws(NetError) {
        do {
            try await operation()
        } catch let error as NetError {
            throw error
        } catch {
            throw NetError(.stoppedByCaller, "writing to the body output failed: \(error)", underlying: error)
        }
    }
}

/// The result of one attempt.
private struct Attempt: Sendable {
    let body: ResumableBody
    let result: Result<Response<Bytes>, NetError>
    /// Whether a pause interrupted the attempt. Then its failure is expected, and another attempt follows.
    let wasInterrupted: Bool
}

extension ResumableBody {
    /// Returns the response after the last attempt. It has the head of the first attempt and the hops of all attempts.
    fileprivate func whole(_ stream: ResponseStream) -> Response<Bytes> {
        var response = head ?? stream.headOnly
        response.trailers = stream.trailers
        response.isCloseDelimited = stream.isCloseDelimited
        response.metrics = Metrics(hops)
        response.source = stream.source.ending?.source ?? .network
        return response
    }
}
