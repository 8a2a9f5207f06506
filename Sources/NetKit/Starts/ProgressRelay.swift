/// Tells a start's delegate and closure how far its transfer is, where the start delivers: the newest word alone, and
/// none after its end.
struct ProgressRelay: Sendable {
    private let delivery: Delivery
    private let closure: (@Sendable (TransferProgress) -> Void)?
    private weak var delegate: (any RunDelegate)?

    /// Nil when nobody wants to know.
    init?(_ launch: Launch<some Sendable>) {
        if launch.delegate == nil, launch.options.progress == nil {
            return nil
        }
        delivery = launch.delivery
        closure = launch.options.progress
        delegate = launch.delegate
    }

    /// Sends, and returns when the last word was told.
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
