/// Reports a transfer's progress to a task's delegate and closure, where the task delivers. Reports only the newest
/// value, and none after the end.
struct ProgressRelay: Sendable {
    private let delivery: Delivery
    private let closure: (@Sendable (TransferProgress) -> Void)?
    private weak var delegate: (any RunDelegate)?

    /// Returns `nil` if there is no listener.
    init?(_ launch: Launch<some Sendable>) {
        if launch.delegate == nil, launch.options.progress == nil {
            return nil
        }
        delivery = launch.delivery
        closure = launch.options.progress
        delegate = launch.delegate
    }

    /// Sends the request, and returns after the last report.
    func follow<Value>(
        _ request: Request<Value>, _ control: RunControl,
        send: (Request<Value>) async throws(NetError) -> Response<Value>
    ) async throws(NetError) -> Response<Value> {
        let (handler, updates) = TransferProgress.stream()
        var watched = request
        watched.progress = { [own = request.progress] progress in
            own?(progress)
            handler(progress)
        }
        async let told: Void = tell(updates, control)
        let outcome: Result<Response<Value>, NetError>
        do throws(NetError) {
            outcome = .success(try await send(watched))
        } catch {
            outcome = .failure(error)
        }
        handler(TransferProgress(isOver: true))
        await told
        return try outcome.get()
    }

    private func tell(_ updates: AsyncStream<TransferProgress>, _ control: RunControl) async {
        var last = TransferProgress()
        for await progress in updates {
            let isNews = (sent: progress.sent != last.sent, received: progress.received != last.received)
            last = progress
            await delivery.run { [self] in
                if control.isCancelled {
                    return
                }
                if isNews.sent {
                    delegate?.run(control.run, sent: progress)
                }
                if isNews.received {
                    delegate?.run(control.run, received: progress)
                }
                closure?(progress)
            }
        }
    }
}

extension TransferProgress {
    fileprivate init(isOver: Bool) {
        self.init()
        self.isOver = isOver
    }
}
