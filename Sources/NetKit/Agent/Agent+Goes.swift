extension Agent {
    /// Sends a request and writes the body to its output, or to memory. Resumes with a Range request after each pause.
    ///
    /// - Parameter control: the control that interrupts it; `nil` without one.
    func sendInGoes<Value>(
        _ request: Request<Value>, _ control: RunControl?
    ) async throws(NetError) -> Response<Value> {
        var asked = request.decoded(by: .bytes)
        let tellOver = asked.endProgressOnce()
        defer { tellOver?() }
        let limit = (request.limits ?? configuration.limits).maxBodyBytes
        let memory = request.output == nil ? MemoryOutput(maxBytes: limit ?? .max) : nil
        asked.expectation = nil
        asked.output = nil
        // A body in memory is checked as a whole at the end.
        let expecting = memory == nil && request.expectation != nil ? request.decoded(by: .bytes) : nil
        var course = BodyCourse(
            asked, output: request.output ?? memory ?? MemoryOutput(maxBytes: 0), expecting: expecting)
        while true {
            try await control?.passage()
            let go = await go(course, control) { head throws(NetError) in
                try request.checkHead(head, types: request.decoding.types)
            }
            course = go.course
            if case .failure = go.result, go.wasInterrupted, !Task.isCancelled {
                continue
            }
            var received = try go.result.get()
            guard let memory else { return try await decode(received, by: request.decoding) }
            received.bytes = memory.bytes
            received.value = received.bytes
            return try await accepted(received, by: request)
        }
    }

    private func go(
        _ course: BodyCourse, _ control: RunControl?,
        _ check: @escaping @Sendable (Response<Bytes>) throws(NetError) -> Void
    ) async -> Go {
        let begins = Promise<Void>()
        let task = Task {
            _ = await begins.outcome()
            var course = course
            let result: Result<Response<Bytes>, NetError>
            do throws(NetError) {
                result = .success(try await self.fetch(&course, check))
            } catch {
                result = .failure(error)
            }
            return (course, result)
        }
        let wasInterrupted = Lock(false)
        control?.setInterruption {
            wasInterrupted.withLock { $0 = true }
            task.cancel()
        }
        defer { control?.setInterruption(nil) }
        // The transfer starts only when it can be interrupted: its first bytes may arrive immediately, and their
        // receiver may pause the task.
        begins.fulfil(.success(()))
        let (course, result) = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        return Go(course: course, result: result, wasInterrupted: wasInterrupted.withLock { $0 })
    }

    /// Runs one attempt, to the end of the body.
    private func fetch(
        _ course: inout BodyCourse, _ check: @Sendable (Response<Bytes>) throws(NetError) -> Void
    ) async throws(NetError) -> Response<Bytes> {
        if course.isTorn || (course.offset > 0 && !course.asksForRest) {
            try await startOver(&course)
        }
        if let head = course.head, course.offset == course.total {
            // It was paused after its last byte.
            try await finish(course)
            return head
        }
        let isRest = course.asksForRest
        let shift = Lock(0)
        var stream = try await opened(course, shift)
        if course.asksForRest, !course.goesOn(with: stream.headOnly) {
            // A wrong range, or a 416, is not usable: the whole body is requested.
            let isPart = stream.headOnly.isPart || stream.status == 416
            if !isPart {
                try await refuse(stream, unless: check)
            }
            try await startOver(&course)
            if isPart {
                stream.supersede()
                shift.withLock { $0 = 0 }
                stream = try await opened(course, shift)
            }
        }
        if course.offset == 0 {
            try await refuse(stream, unless: check)
            try course.begin(with: stream.headOnly)
        } else {
            course.takesRest(with: stream.headOnly)
        }
        shift.withLock { $0 = course.offset }
        for try await piece in stream {
            try course.writes(piece)
            try await Self.told { try await course.output.write(piece) }
            course.wrote(piece.count)
        }
        course.ended(stream.metrics)
        if isRest, let total = course.total, course.offset < total {
            throw NetError(.cutShort, "the body ended at byte \(course.offset) of \(total)", response: course.head)
        }
        try await finish(course)
        return course.whole(stream)
    }

    private func finish(_ course: BodyCourse) async throws(NetError) {
        try course.finish()
        try await Self.told { try await course.output.finish() }
    }

    private func opened(_ course: BodyCourse, _ shift: Lock<Int>) async throws(NetError) -> ResponseStream {
        var request = course.next
        if let tell = request.progress {
            request.progress = { progress in
                if !progress.isOver {
                    tell(course.whole(progress, shift: shift.withLock { $0 }))
                }
            }
        }
        return try await stream(request)
    }

    private func startOver(_ course: inout BodyCourse) async throws(NetError) {
        let output = course.output
        try await Self.told { try await output.startOver() }
        course.startedOver()
    }

    /// Throws with the whole body if the head is not accepted.
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
            throw error.telling(received)
        }
    }

    /// Converts errors of the output to those of a request.
    private static func told(_ body: () async throws -> Void) async throws(NetError) {
        do {
            try await body()
        } catch let error as NetError {
            throw error
        } catch {
            throw NetError(.stoppedByCaller, "the body's output failed: \(error)", underlying: error)
        }
    }
}

/// The result of one attempt.
private struct Go: Sendable {
    let course: BodyCourse
    let result: Result<Response<Bytes>, NetError>
    /// Whether it was interrupted by a pause: then its failure is no error.
    let wasInterrupted: Bool
}

extension BodyCourse {
    /// Returns the response after the last attempt: the first head, with the hops of all attempts.
    fileprivate func whole(_ stream: ResponseStream) -> Response<Bytes> {
        var response = head ?? stream.headOnly
        response.trailers = stream.trailers
        response.isCloseDelimited = stream.isCloseDelimited
        response.metrics = Metrics(hops)
        response.source = stream.source.ending?.source ?? .network
        return response
    }
}
