import NetKit

/// Records when each step began and how it ended.
final class RunBoard: Sendable {
    struct Entry: Sendable {
        enum State: Sendable {
            case unsent
            case underWay
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
    private let kept: Lock<[Entry]>

    init(_ names: [String]) {
        start = clock.now
        kept = Lock(names.map { Entry(name: $0) })
    }

    var entries: [Entry] { kept.withLock { $0 } }

    func begin(_ index: Int) {
        let now = clock.now - start
        kept.withLock { entries in
            entries[index].state = .underWay
            entries[index].began = now
        }
    }

    func end(_ index: Int, _ result: Result<Response<Bytes>, NetError>) {
        let now = clock.now - start
        kept.withLock { entries in
            entries[index].ended = now
            switch result {
            case .success(let response): entries[index].state = .answered(response)
            case .failure(let error): entries[index].state = .failed(error)
            }
        }
    }
}

extension RunBoard.Entry {
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

    /// The metrics of its hops.
    var metrics: Metrics { error?.metrics ?? response?.metrics ?? Metrics() }

    var took: Duration? {
        guard let began, let ended else { return nil }
        return ended - began
    }
}

/// A step whose request is created when it begins.
struct RunErrand: Errand {
    let index: Int
    let board: RunBoard
    let make: @Sendable () throws(NetError) -> Request<Bytes>

    func run(through sender: some RequestSender) async throws(NetError) -> Response<Bytes> {
        board.begin(index)
        do throws(NetError) {
            let response = try await sender.send(try make())
            board.end(index, .success(response))
            return response
        } catch {
            board.end(index, .failure(error))
            throw error
        }
    }
}
