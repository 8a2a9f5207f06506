/// The service's own work in each transfer: final parameters, a slot, and the check of the response.
struct ServiceStage: PromptInterceptor {
    let service: Service

    var isPrompt: Bool { service.configuration.adjustParameters == nil && service.configuration.judge == nil }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        var call = call
        if let adjust = service.configuration.adjustParameters, !call.request.outsiders.contains(.service) {
            let asked = call.request
            try await call.setSentParameters { (parameters) async throws(NetError) -> Parameters? in
                do {
                    return try await adjust(parameters, asked)
                } catch {
                    throw NetError(asking: error, .badParameter, "the parameters could not be adjusted")
                }
            }
        }
        guard let slots = service.slots else { return try await judged(try await next(call)) }
        let slot = try await slots.take(for: call.request, within: call.budget)
        let answer = try await judged(try await next(call))
        if case .stream(let stream) = answer.body {
            return Answer(stream.replaced(by: HeldChunks(stream, slot: slot)))
        }
        slot.giveBack()
        return answer
    }

    private func judged(_ answer: Answer) async throws(NetError) -> Answer {
        guard let judge = service.configuration.judge, case .bytes = answer.body else { return answer }
        do {
            try await judge(answer.response)
            return answer
        } catch {
            throw NetError(
                asking: error, .invalidValue, "the service \(service.name) says no", response: answer.response)
        }
    }
}

/// A streamed body that keeps a slot until its end.
private final class HeldChunks: ChunkSource {
    private let stream: ResponseStream
    private let slot: TakenSlot

    init(_ stream: ResponseStream, slot: TakenSlot) {
        self.stream = stream
        self.slot = slot
    }

    func next() async throws(NetError) -> Bytes? {
        do throws(NetError) {
            let piece = try await stream.source.next()
            if piece == nil {
                slot.giveBack()
            }
            return piece
        } catch {
            slot.giveBack()
            throw error
        }
    }

    func abandon(isSuperseded: Bool) {
        stream.source.abandon(isSuperseded: isSuperseded)
        slot.giveBack()
    }

    func beginReading() -> Bool { stream.source.beginReading() }

    var ending: Response<Bytes>? { stream.source.ending }
}
