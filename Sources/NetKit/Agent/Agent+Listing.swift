extension Agent {
    /// Sends a request as a request task and waits for it. The task is listed, its accessories and hooks are called,
    /// and it can be cancelled by its tag.
    func sendListed<Value>(_ request: Request<Value>) async throws(NetError) -> Response<Value> {
        try await launch(request, on: .here, StartOptions(), nil, nil).outcome()
    }

    /// Saves in the same way; a saved file has no hooks.
    func saveListed(
        _ request: Request<some Sendable>, to path: String
    ) async throws(NetError) -> Response<SavedFile> {
        var launch = Launch<Response<SavedFile>>(delivery: .here)
        launch.accessories = request.accessories
        var asked = request
        launch.tellOver = asked.endProgressOnce()
        let handle = launch.begin(control(of: request), in: registry) { [asked] control async throws(NetError) in
            var request = asked
            request.forgetCompany()
            request.ticket = control.ticket
            return try await self.saveThroughChain(request, to: path)
        }
        return try await handle.outcome()
    }
}

extension CallHandle {
    /// Waits for the outcome. Cancelling the waiting task cancels the request task.
    func outcome() async throws(NetError) -> Value {
        let outcome = await withTaskCancellationHandler {
            await promise.outcome()
        } onCancel: {
            cancel()
        }
        return try outcome.get()
    }
}
