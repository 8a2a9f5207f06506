import NetKit
import Synchronization

/// Answers by a closure and keeps what it was asked.
final class StubTransport: Transport {
    typealias Answer = @Sendable (Request<Bytes>) async throws(NetError) -> Response<Bytes>

    private let asked = Mutex<[Request<Bytes>]>([])
    private let shutdowns = Counter()
    private let answer: Answer

    init(_ answer: @escaping Answer) {
        self.answer = answer
    }

    var requests: [Request<Bytes>] { asked.withLock { $0 } }

    var shutdownCount: Int { shutdowns.value }

    func send(_ request: Request<Bytes>) async throws(NetError) -> Response<Bytes> {
        asked.withLock { $0.append(request) }
        return try await answer(request)
    }

    func shutdown() async {
        shutdowns.increment()
    }
}
