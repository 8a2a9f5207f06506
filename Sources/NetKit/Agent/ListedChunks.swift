/// A streamed body whose request task is listed until its end, so that it can be found, cancelled and paused.
final class ListedChunks: ChunkSource {
    private let stream: ResponseStream
    private let listing: ListedStream

    init(_ stream: ResponseStream, _ listing: ListedStream) {
        self.stream = stream
        self.listing = listing
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await read()
            if piece == nil {
                listing.end(with: nil)
            }
            return piece
        } catch {
            listing.end(with: error)
            throw error
        }
    }

    /// Reads in a task that cancelling the call ends, while the reader's own task continues.
    private func read() async throws(NetError) -> Bytes? {
        let task = Task { [source = stream.source] () -> Result<Bytes?, NetError> in
            do throws(NetError) {
                return .success(try await source.next())
            } catch {
                return .failure(error)
            }
        }
        listing.reads { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if listing.control.isCancelled {
            throw NetError(.cancelled, "the stream was cancelled")
        }
        return try result.get()
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        listing.end(with: NetError(.cancelled, "the stream was let go before its end"))
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}

/// The entry of a stream among an agent's request tasks.
final class ListedStream: Sendable {
    let control: RunControl
    let over = Promise<Void>()
    private let registry: RunRegistry
    private let isOver = Lock(false)
    private let reading = Lock<(@Sendable () -> Void)?>(nil)

    init(_ control: RunControl, in registry: RunRegistry, with accessories: [any Accessory]) {
        self.control = control
        self.registry = registry
        _ = registry.insert(control)  // The chain decides whether it may begin.
        control.accompany(accessories)
    }

    /// Sets the closure that ends the current read, and calls it immediately if the call was cancelled.
    func reads(_ end: @escaping @Sendable () -> Void) {
        reading.withLock { $0 = end }
        if control.isCancelled {
            end()
        }
    }

    /// Ends the current read after a cancellation.
    func interrupt() {
        reading.withLock { $0 }?()
    }

    /// Ends the task. Later calls do nothing.
    func end(with failure: NetError?) {
        let isFirst = isOver.withLock { isOver in
            defer { isOver = true }
            return !isOver
        }
        guard isFirst else { return }
        _ = control.beginsStopping()
        let run = control.run
        let accessories = control.accessories
        for accessory in accessories {
            accessory.willStop(run)
        }
        registry.remove(control)
        control.ended(with: failure)
        for accessory in accessories {
            accessory.didStop(run)
        }
        over.fulfil(.success(()))
    }
}

extension Agent {
    /// Streams as a request task, until the body's end.
    func streamListed(_ request: Request<some Sendable>) async throws(NetError) -> ResponseStream {
        let listing = ListedStream(control(of: request), in: registry, with: request.accessories)
        var asked = request.decoded(by: .bytes)
        asked.forgetCompany()
        asked.ticket = listing.control.ticket
        let tellOver = asked.endProgressOnce()
        let opening = Promise<ResponseStream>()
        let task = Task { [asked] in
            do throws(NetError) {
                try await listing.control.passage()
                opening.fulfil(.success(try await self.streamThroughChain(asked)))
            } catch {
                tellOver?()
                opening.fulfil(.failure(error))
            }
        }
        listing.control.began(task)
        let outcome = await withTaskCancellationHandler {
            await opening.outcome()
        } onCancel: {
            listing.control.cancel()
        }
        do throws(NetError) {
            let stream = try outcome.get()
            // From here on a cancellation ends the body.
            listing.control.began(
                Task { [over = listing.over, source = stream.source] in
                    _ = await withTaskCancellationHandler {
                        await over.outcome()
                    } onCancel: {
                        listing.interrupt()
                        source.abandon(isSuperseded: false)
                    }
                })
            return stream.replaced(by: ListedChunks(stream, listing))
        } catch {
            listing.end(with: error)
            throw error
        }
    }
}
