import NetKit

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// One large body through an agent: `bench-bodies loop|global save|stream|rest|upload URL BYTES [FILE]`.
///
/// `rest` streams and pauses for 2 ms after every 2 MiB.
@main
struct Main {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count >= 5, let byteCount = UInt64(arguments[4]) else {
            print("usage: bench-bodies loop|global save|stream|rest|upload URL BYTES [FILE]")
            exit(2)
        }
        let agent = Agent()
        let work: @Sendable () async throws -> UInt64 = {
            try await move(arguments[2], url: arguments[3], file: arguments.last ?? "", byteCount, through: agent)
        }
        let moved =
            arguments[1] == "loop"
            ? try await withTaskExecutorPreference(agent.executor, operation: work) : try await work()
        await agent.shutdown()
        exit(moved == byteCount ? 0 : 1)
    }

    private static func move(
        _ mode: String, url: String, file: String, _ byteCount: UInt64, through agent: Agent
    ) async throws -> UInt64 {
        switch mode {
        case "save":
            return UInt64(
                try await agent.download(Request<Bytes>(url), to: file, options: .init(isResumable: false)).value
                    .byteCount)
        case "upload":
            let request = Request<Bytes>(url, method: .put, body: .file(file))
            let sent = try await agent.send(request).metrics.last?.sentBytes ?? 0
            return UInt64(sent) >= byteCount ? byteCount : 0
        default:
            return try await read(url, restsEvery: mode == "rest" ? 2 << 20 : Int.max, through: agent)
        }
    }

    private static func read(_ url: String, restsEvery: Int, through agent: Agent) async throws -> UInt64 {
        var received = 0
        var nextRest = restsEvery
        for try await chunk in try await agent.stream(Request<Bytes>(url)) {
            received += chunk.count
            if received >= nextRest {
                nextRest = received + restsEvery
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        return UInt64(received)
    }
}
