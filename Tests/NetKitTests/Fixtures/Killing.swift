#if os(Linux)
import Glibc
import NetKit

/// Ends the process, as `kill -9` does, at the call with this number (from 1). The point is "before" it is sent, or
/// when it is "answered".
struct Killing: Interceptor {
    let point: String
    let number: Int
    private let count = Counter()

    init(point: String, number: Int) {
        self.point = point
        self.number = number
    }

    func intercept(_ call: Call, next: Next) async throws(NetError) -> Answer {
        let isMeant = count.increment() == number
        if isMeant, point == "before" {
            kill(getpid(), SIGKILL)
        }
        let answer = try await next(call)
        if isMeant, point == "answered" {
            kill(getpid(), SIGKILL)
        }
        return answer
    }
}
#endif
