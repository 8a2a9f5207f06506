import Foundation
import Workload

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// URLSession in its fastest configuration: one ephemeral session without cache and cookies, one connection per task.
@main
struct Main {
    static func main() async {
        let workload = Workload()
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = workload.inFlight
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        let session = URLSession(configuration: configuration)
        guard let url = URL(string: workload.url) else { return }
        await workload.measure(peer: "urlsession") { requestCount in
            var failureCount = 0
            for _ in 0..<requestCount {
                do {
                    let (data, response) = try await session.data(from: url)
                    if (response as? HTTPURLResponse)?.statusCode != 200 || data.count != workload.bodyByteCount {
                        failureCount += 1
                    }
                } catch {
                    failureCount += 1
                }
            }
            return failureCount
        }
        session.finishTasksAndInvalidate()
    }
}
