import CMeasure

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The work of the Swift peers, its distribution among tasks, and its measurement.
///
/// A peer supplies the loop of one task. No code of this type runs between two requests.
public struct Workload: Sendable {
    /// The URL of every request.
    public let url: String
    /// The executor that awaits: "loop", "global" or empty.
    public let mode: String
    /// PEM file of the trusted authorities; nil: the client's default.
    public let authorities: String?
    /// Bytes in each body. Another length is a failure.
    public let bodyByteCount: Int
    /// Whether the requests accept the content codings that the client decodes.
    public let asksCodings: Bool
    /// Number of tasks that send, each one request at a time.
    public let inFlight: Int

    private let options: Options

    /// Sends `requestCount` requests one after another. Returns the number of failures.
    public typealias Loop = @Sendable (_ requestCount: Int) async -> Int

    /// Reads the command line, and exits with status 2 if it is wrong.
    public init() {
        var options = bench_options()
        guard bench_options_parse(&options, CommandLine.argc, CommandLine.unsafeArgv) else { exit(2) }
        url = String(cString: options.url)
        mode = String(cString: options.mode)
        authorities = options.ca.map { String(cString: $0) }
        bodyByteCount = Int(options.body_bytes)
        inFlight = Int(options.in_flight)
        asksCodings = options.asks_codings != 0
        self.options = Options(value: options)
    }

    /// Warms up, measures, and prints the line that run.sh reads.
    public func measure(peer: String, loop: @escaping Loop) async {
        var failureCount = await run(Int(options.value.warm_up), loop: loop)
        let start = bench_usage_now()
        failureCount += await run(Int(options.value.requests), loop: loop)
        var outcome = bench_outcome(
            end: bench_usage_now(), connections: UInt64.max, failures: UInt64(failureCount))
        var options = options.value
        bench_print_result(peer, &options, start, &outcome)
    }

    /// Measures several peers in one process. They take turns with a twentieth of the requests each, so memory layout and
    /// other load affect all of them equally. Prints a line for each; its peak is that of the whole process.
    public func measure(inTurns peers: [(name: String, loop: Loop)]) async {
        var sums = [Sum](repeating: Sum(), count: peers.count)
        for (index, peer) in peers.enumerated() {
            sums[index].failureCount = await run(Int(options.value.warm_up), loop: peer.loop)
        }
        let total = Int(options.value.requests)
        for turn in 0..<20 {
            let share = total * (turn + 1) / 20 - total * turn / 20
            for place in peers.indices {
                // The order rotates, so that no peer always follows the same one.
                let index = turn.isMultiple(of: 2) ? place : peers.count - 1 - place
                let start = bench_usage_now()
                sums[index].failureCount += await run(share, loop: peers[index].loop)
                let end = bench_usage_now()
                sums[index].usage.cpu_s += end.cpu_s - start.cpu_s
                sums[index].usage.wall_s += end.wall_s - start.wall_s
            }
        }
        for (peer, sum) in zip(peers, sums) {
            var outcome = bench_outcome(
                end: sum.usage, connections: UInt64.max, failures: UInt64(sum.failureCount))
            var options = options.value
            bench_print_result(peer.name, &options, bench_usage(), &outcome)
        }
    }

    private struct Sum {
        var usage = bench_usage()
        var failureCount = 0
    }

    private func run(_ requestCount: Int, loop: @escaping Loop) async -> Int {
        await withTaskGroup(of: Int.self) { group in
            for index in 0..<inFlight {
                let share = requestCount / inFlight + (index < requestCount % inFlight ? 1 : 0)
                group.addTask { await loop(share) }
            }
            return await group.reduce(0, +)
        }
    }
}

// SAFETY: its pointers are those of the command line, which are valid for the whole process and never written.
private struct Options: @unchecked Sendable {
    let value: bench_options
}
