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

    /// The listeners of the next part.
    var partListeners: [any TaskListener] {
        let listeners = parent.allListeners
        guard !listeners.isEmpty else { return [] }
        let task = parent.run
        return listeners.compactMap { $0.partListener(of: task) }
    }

    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try await parent.waitWhilePaused()
        let listeners = partListeners
        if request.isListed || !listeners.isEmpty {
            // The request has listeners or a tag, so it becomes a request task of its own.
            let handle = agent.launch(request, on: .here, StartOptions(listeners: listeners))
            return try await outcome(of: handle)
        }
        let part = TaskControl(RequestTask(kind: .request), transfers: agent.control)
        parent.adopt(part)
        defer { parent.release(part) }
        var request = request
        request.transferHandle = part.transferHandle
        return try await agent.send(request)
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
