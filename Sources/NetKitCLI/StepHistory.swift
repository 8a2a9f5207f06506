import NetKit

/// Records when each step of `nk run` began, and how it ended.
final class StepHistory: Sendable {
    struct Entry: Sendable {
        enum State: Sendable {
            case unsent
            case running
            case answered(Response<Bytes>)
            case failed(NetError)
        }

        let name: String
        var state = State.unsent
        var began: Duration?
        var ended: Duration?
    }

    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let steps: Lock<[Entry]>

    init(_ names: [String]) {
        start = clock.now
        steps = Lock(names.map { Entry(name: $0) })
    }

    var entries: [Entry] { steps.withLock { $0 } }

    func begin(_ index: Int) {
        let now = clock.now - start
        steps.withLock { entries in
            entries[index].state = .running
            entries[index].began = now
        }
    }

    func end(_ index: Int, _ result: Result<Response<Bytes>, NetError>) {
        let now = clock.now - start
        steps.withLock { entries in
            entries[index].ended = now
            switch result {
            case .success(let response): entries[index].state = .answered(response)
            case .failure(let error): entries[index].state = .failed(error)
            }
        }
    }
}

extension StepHistory.Entry {
    var response: Response<Bytes>? {
        switch state {
        case .answered(let response): response
        case .failed(let error): error.response
        default: nil
        }
    }

    var error: NetError? {
        if case .failed(let error) = state { error } else { nil }
    }

    /// The metrics of the step's hops.
    var metrics: Metrics { error?.metrics ?? response?.metrics ?? Metrics() }

    var elapsed: Duration? {
        guard let began, let ended else { return nil }
        return ended - began
    }
}

/// A step whose request is created when the step begins, so that it can use the responses of other steps.
struct StepOperation: SendableOperation {
    let index: Int
    let history: StepHistory
    let createRequest: @Sendable () throws(NetError) -> Request<Bytes>

    func run(through sender: some RequestSender) async throws(NetError) -> Response<Bytes> {
        history.begin(index)
        do throws(NetError) {
            let response = try await sender.send(try createRequest())
            history.end(index, .success(response))
            return response
        } catch {
            history.end(index, .failure(error))
            throw error
        }
    }
}
