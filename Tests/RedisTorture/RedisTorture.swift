#if Redis
import CNetTesting
@preconcurrency import Glibc
import NetKit
import NetKitRedis

/// The torture test of NetKitRedis against real servers; see script/torture.
///
///     RedisTorture [N [SCENARIO]]    N requests of each of 8 processes (100000); the other scenarios have sizes in
///                                    proportion. Without one of limit, flights, faults and flips, all run
///
/// Prints one line for each scenario, and exits with 1 if a promise of docs/shared.md was broken.
@main struct RedisTorture {
    static func main() async {
        setlinebuf(stdout)
        signal(SIGPIPE, SIG_IGN)
        let words = Array(CommandLine.arguments.dropFirst())
        if words.first == "worker" {
            await Worker(Array(words.dropFirst())).run()
        }
        guard words.count < 3, let requests = words.first.map({ Int($0) }) ?? 100_000, requests > 0 else {
            print("usage: RedisTorture [N [limit|flights|faults|flips]]")
            exit(2)
        }
        let seed = getenv("NETCORE_TORTURE_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 0...UInt64.max)
        print("redis: NETCORE_TORTURE_SEED=\(seed)")
        let problems = Problems()
        let small = max(2000, requests / 10)
        for (program, isSecure, size) in [
            ("redis-server", false, requests), ("redis-server", true, small), ("valkey-server", false, small),
        ] {
            guard isInstalled(program) else {
                let isRequired = getenv("CI").map { String(cString: $0) == "true" } ?? false
                print("redis: \(program) is missing; script/bootstrap --tests installs it")
                problems.add(isRequired ? "\(program) is missing" : nil)
                continue
            }
            let torture = Torture(
                program: program, isSecure: isSecure, requests: size, isSample: isSecure, only: words.dropFirst().first,
                seed: seed, problems: problems
            )
            do {
                try await torture.run()
            } catch {
                problems.add("\(program): \(error)")
            }
        }
        print("redis: \(problems.count) problems")
        exit(problems.count == 0 ? 0 : 1)
    }

    private static func isInstalled(_ program: String) -> Bool {
        var path = [CChar](repeating: 0, count: 4096)
        return nct_program_find(program, &path, path.count)
    }
}

/// All scenarios with one server.
struct Torture: Sendable {
    let program: String
    let isSecure: Bool
    let requests: Int
    /// Whether only the scenarios run in which the connection matters.
    let isSample: Bool
    /// The only scenario to run; `nil` for all.
    let only: String?
    let seed: UInt64
    let problems: Problems

    func run() async throws {
        let server = try RedisServer(program, isSecure: isSecure)
        defer { server.stop() }
        try server.start()
        if !isSample, includes("limit") {
            try testLimit(server)
        }
        if !isSample, includes("flights") {
            try testFlights(server)
        }
        if includes("faults") {
            try await testFaults(server)
        }
        if includes("flips") {
            try await testFlips(server)
        }
    }

    private func includes(_ scenario: String) -> Bool { only ?? scenario == scenario }

    /// Prints the result of a scenario. A broken promise is a problem.
    func report(_ scenario: String, _ text: String, broken: Int) {
        let line = "\(program)\(isSecure ? " with TLS" : ""): \(scenario): \(text)"
        print(line)
        problems.add(broken == 0 ? nil : line)
    }

    func generator(_ name: String) -> Generator {
        Generator(name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 })
    }
}

/// The promises that were broken.
final class Problems: Sendable {
    private let texts = Guarded<[String]>([])

    var count: Int { texts.with { $0.count } }

    func add(_ text: String?) {
        if let text {
            texts.with { $0.append(text) }
            print("BROKEN: \(text)")
        }
    }
}

/// Random numbers that a seed determines (SplitMix64).
struct Generator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(_ seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

/// A value behind a lock.
final class Guarded<Value>: @unchecked Sendable {
    private var value: Value
    private var lock = pthread_mutex_t()

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(&lock, nil)
    }

    func with<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(&lock)
        defer { pthread_mutex_unlock(&lock) }
        return try body(&value)
    }
}

/// The text in a buffer, up to its NUL.
func text(of buffer: [CChar]) -> String {
    String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

/// The monotonic time in milliseconds.
func milliseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
}

/// Runs a function that blocks on a thread of its own.
func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        startThread { continuation.resume(with: Result { try work() }) }
    }
}

func startThread(_ work: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
    var thread = pthread_t()
    let box = Unmanaged.passRetained(Box(work)).toOpaque()
    let code = pthread_create(
        &thread, nil,
        { context in
            if let context { Unmanaged<Box>.fromOpaque(context).takeRetainedValue().work() }
            return nil
        }, box)
    precondition(code == 0, "a thread cannot be started")
    pthread_detach(thread)
}
#else
@main struct RedisTorture {
    static func main() {
        print("the torture test of NetKitRedis requires the trait Redis")
    }
}
#endif
