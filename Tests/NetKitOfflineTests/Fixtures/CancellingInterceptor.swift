#if os(Linux)
import Glibc
import NetKit

/// Kills the process with SIGKILL at the call with this number (from 1). If `point` is "before", it does so before the
/// request is sent; if "answered", when the response has arrived.
struct CancellingInterceptor: Interceptor {
    let point: String
    let number: Int
    private let count = Counter()

    init(point: String, number: Int) {
        self.point = point
        self.number = number
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> ChainResponse {
        let isChosen = count.increment() == number
        if isChosen, point == "before" {
            kill(getpid(), SIGKILL)
        }
        let result = try await next(call)
        if isChosen, point == "answered" {
            kill(getpid(), SIGKILL)
        }
        return result
    }
}
#endif
