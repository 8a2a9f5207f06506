// Eight worker processes share one cache, one request for a missing page, one rate limit and one refresh of a token. The
// program starts itself eight times, with an origin server, and with redis-server unless REDIS_URL names one.
import Foundation
import NetKit
import NetKitTesting

/// The number of requests that the origin accepts in a day, from all workers together.
let dailyBudget = 60
let workerCount = 8

@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 5, let number = Int(arguments[1]) {
            let report = try await Worker(number, origin: arguments[2], redis: arguments[3], prefix: arguments[4]).run()
            print(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
            return
        }
        let origin = try MockServer()
        try origin.register(
            "/prices", with: StubReply(headers: ["Cache-Control": "max-age=3600"], body: [.text("Oslo 7, Bergen 9")]))
        try origin.register("/token", with: .text("new"))
        for number in 1...workerCount {
            // The token with which a worker starts has expired.
            try origin.register("/orders/\(number)", with: .status(401), .text("none"))
        }
        let redis = try await LocalRedis()
        defer { redis.stop() }
        let prefix = "workers-\(UUID().uuidString)"
        let workers = try (1...workerCount).map { try start(["\($0)", origin.url, redis.url, prefix]) }
        let reports = try workers.map { worker in
            let output = worker.output.fileHandleForReading.readDataToEndOfFile()
            worker.process.waitUntilExit()
            return try JSONDecoder().decode(Report.self, from: output)
        }
        try check(reports, origin.requests)
    }

    private static func start(_ arguments: [String]) throws -> (process: Process, output: Pipe) {
        let process = Process()
        let output = Pipe()
        process.executableURL = Bundle.main.executableURL
        process.arguments = arguments
        process.standardOutput = output
        try process.run()
        return (process, output)
    }

    /// Prints the table and compares the sums, which are the same in each run.
    private static func check(_ reports: [Report], _ requests: [MockServer.Received]) throws {
        var hits = 0
        print("worker  calls  cache hits  at origin  over limit  refreshes")
        for report in reports {
            let name = String(report.worker)
            let reached = requests.filter { request in request.headers["Worker"] == name }.count
            hits += report.hits
            row([report.worker, report.calls, report.hits, reached, report.refused, report.refreshes])
        }
        let pages = requests.filter { request in request.path == "/prices" }.count
        let tokens = requests.filter { request in request.path == "/token" }.count
        let others = requests.count - tokens
        print("requests of the page at the origin: \(pages)")
        print("cache hits: \(hits)")
        print("refreshes of the token: \(tokens)")
        print("requests at the origin, without the refresh: \(others)")
        guard pages == 1, tokens == 1, others == dailyBudget, hits == workerCount * 5 - 1 else {
            throw NetError(.internal, "the results were others")
        }
    }

    private static func row(_ numbers: [Int]) {
        var line = ""
        for (number, width) in zip(numbers, [6, 7, 12, 11, 12, 11]) {
            let text = String(number)
            line += String(repeating: " ", count: width - text.count) + text
        }
        print(line)
    }
}
