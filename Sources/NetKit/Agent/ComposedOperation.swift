/// An operation that consists of several requests, with the properties that its request task needs.
protocol ComposedOperation: SendableOperation {
    /// The kind of the request task.
    var kind: RequestTask.Kind { get }
    var userInfo: [String: any Sendable] { get }
    var listeners: [any TaskListener] { get }
    /// The number of its parts, if it is known before the operation runs; otherwise 0.
    var partCount: Int { get }
}

extension ComposedOperation {
    var partCount: Int { 0 }
}

/// Sends the requests of a started batch, chain or graph. Pausing or cancelling its request task applies to them too.
struct PartSender: RequestSender {
    let agent: Agent
    let parent: TaskControl
    var tracking: CallProgress?

    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try await parent.waitWhilePaused()
        let progress = tracking?.part()
        if request.isListed {
            // The request has its own listeners or tag, so it becomes a request task of its own.
            let handle = agent.launch(request, on: .here, StartOptions(tracking: progress))
            return try await outcome(of: handle)
        }
        let part = TaskControl(RequestTask(kind: .request), transfers: agent.control)
        parent.adopt(part)
        defer { parent.release(part) }
        var request = request
        request.transferHandle = part.transferHandle
        guard let progress else { return try await agent.send(request) }
        progress.watch(&request)
        let result: Result<Response<Value>, NetError>
        do throws(NetError) {
            result = .success(try await agent.send(request))
        } catch {
            result = .failure(error)
        }
        progress.ended(result)
        return try result.get()
    }

    /// Waits for the outcome of a part that has its own request task.
    func outcome<Value>(of handle: CallHandle<Value>) async throws(NetError) -> Value {
        parent.adopt(handle.control)
        let outcome = await withTaskCancellationHandler {
            await handle.promise.outcome()
        } onCancel: {
            handle.cancel()
        }
        parent.release(handle.control)
        return try outcome.get()
    }
}
