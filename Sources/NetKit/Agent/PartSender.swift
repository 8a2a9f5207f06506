/// Sends the parts of started work, which are paused with it.
struct PartSender: RequestSender {
    let agent: Agent
    let whole: RunControl
    var tracking: CallProgress?

    func send<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try await whole.passage()
        let tracked = tracking?.part()
        if request.isListed {
            // A nested request task with its own accessories and hooks.
            let handle = agent.launch(request, on: .here, StartOptions(tracking: tracked), nil, nil)
            return try await outcome(of: handle)
        }
        let part = RunControl(Run(kind: .request), transfers: agent.control)
        whole.adopt(part)
        defer { whole.release(part) }
        var request = request
        request.ticket = part.ticket
        guard let tracked else { return try await agent.send(request) }
        tracked.watch(&request)
        let result: Result<Response<Value>, NetError>
        do throws(NetError) {
            result = .success(try await agent.send(request))
        } catch {
            result = .failure(error)
        }
        tracked.ended(result)
        return try result.get()
    }

    /// Waits for the outcome of a part with its own request task.
    func outcome<Value>(of handle: CallHandle<Value>) async throws(NetError) -> Value {
        whole.adopt(handle.control)
        let outcome = await withTaskCancellationHandler {
            await handle.promise.outcome()
        } onCancel: {
            handle.cancel()
        }
        whole.release(handle.control)
        return try outcome.get()
    }
}
