#if Redis
@preconcurrency import Glibc
import NetKit
import NetKitRedis

/// A child process that is this program again. It inherits no descriptors but its own pipes and the standard error, and
/// ends when the pipe of its input is closed.
final class Child {
    private let pid: pid_t
    private let input: Int32
    private let output: UnsafeMutablePointer<FILE>

    init(_ words: [String]) throws {
        var (down, up): ([Int32], [Int32]) = ([0, 0], [0, 0])
        guard pipe(&down) == 0, pipe(&up) == 0 else { throw Failure("no pipes") }
        for descriptor in down + up {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, down[0], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, up[1], STDOUT_FILENO)
        for descriptor in 3..<Int32(1024) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        let texts = (["RedisTorture", "worker"] + words).map { strdup($0) } + [nil]
        defer { texts.forEach { free($0) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, nil, texts, environ)
        close(down[0])
        close(up[1])
        guard code == 0, let output = fdopen(up[0], "r") else { throw Failure("a child process does not start") }
        (self.pid, input, self.output) = (pid, down[1], output)
    }

    func send(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Waits for a line of the child, and returns its words.
    func words() throws -> [String] {
        var buffer = [CChar](repeating: 0, count: 4096)
        guard fgets(&buffer, Int32(buffer.count), output) != nil else { throw Failure("a child process has ended") }
        return text(of: buffer).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    deinit {
        close(input)
        fclose(output)
        waitpid(pid, nil, 0)
    }
}

/// What a child process does, and the test that starts it.
struct Worker: Sendable {
    private let words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    func run() async -> Never {
        do {
            let client = try RedisClient(words[1], prefix: words[3], timeLimit: .seconds(60))
            switch words[0] {
            case "limit": try await sendLimited(client, words[4...].compactMap { Int($0) })
            default: try await sendShared(client)
            }
            exit(0)
        } catch {
            print("error \(error)")
            exit(1)
        }
    }

    /// Sends requests through the limit. Some are cancelled while they wait.
    private func sendLimited(_ client: RedisClient, _ numbers: [Int]) async throws {
        let (count, perSecond, burst) = (numbers[0], numbers[1], numbers[2])
        let limit = SharedRateLimit(perSecond, per: .seconds(1), burst: burst, redis: client)
        var configuration = Agent.Configuration(baseURL: words[2])
        configuration.interceptors = [limit]
        let agent = Agent(configuration)
        guard readLine() == "go" else { exit(0) }
        startThread {
            while readLine() != nil {}
            _exit(0)
        }
        let concurrency = 64
        let counts = Guarded((sent: 0, cancelled: 0, failed: 0))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<concurrency {
                group.addTask {
                    for number in stride(from: index, to: count, by: concurrency) {
                        let task = Task { try await agent.send(Request<Bytes>("/limit")) }
                        if number % 100 == 50 {
                            task.cancel()
                        }
                        switch await task.result {
                        case .success: counts.with { $0.sent += 1 }
                        case .failure(let error as NetError) where error.code == .cancelled:
                            counts.with { $0.cancelled += 1 }
                        case .failure(let error):
                            counts.with { $0.failed += 1 }
                            fputs("RedisTorture: \(error)\n", stderr)
                        }
                    }
                }
            }
        }
        let (sent, cancelled, failed) = counts.with { $0 }
        print("\(sent) \(cancelled) \(failed) \(limit.statistics.local)")
        fflush(stdout)
    }

    /// Sends a request for each line of the input, and prints the body.
    private func sendShared(_ client: RedisClient) async throws {
        let hashKey = Bytes([UInt8](repeating: 1, count: 32))
        let caching = Caching(RedisCacheStore(client), rules: .http(HTTPCachePolicy()), hashKey: hashKey)
        let flight = SharedFlight(client, caching, lockTime: .seconds(60))
        var configuration = Agent.Configuration(baseURL: words[2])
        configuration.interceptors = [flight, caching]
        let agent = Agent(configuration)
        while let path = try await onThread({ readLine() }) {
            let text = try await agent.send(Request<String>(path)).value
            await caching.finish()
            print(text)
        }
    }
}

extension Torture {
    /// 8 processes send through one limit; the origin checks it at each request.
    func testLimit(_ server: RedisServer) throws {
        let (processes, perSecond, burst) = (8, 4000, 100)
        let origin = try Origin()
        let children = try (0..<processes).map { _ in
            try Child(["limit", server.url(), origin.url, "limit", "\(requests)", "\(perSecond)", "\(burst)"])
        }
        let time = try Control(server).run("TIME").compactMap(Double.init)
        let start = milliseconds()
        origin.bound.with {
            $0 = .init(start: time[0] * 1e6 + time[1], interval: 1e6 / Double(perSecond), burst: Double(burst))
        }
        children.forEach { $0.send("go") }
        let counts = try children.map { try $0.words().compactMap(Int.init) }
        guard counts.allSatisfy({ $0.count == 4 }) else { throw Failure("a child process has failed") }
        func sum(_ index: Int) -> Int { counts.reduce(0) { $0 + $1[index] } }
        let seconds = (milliseconds() - start) / 1000
        let bound = origin.bound.with { $0 }
        let isComplete = sum(0) + sum(1) + sum(2) == processes * requests && bound.count >= sum(0)
        report(
            "limit",
            """
            \(processes) x \(requests) requests, \(perSecond) a second with a burst of \(burst), \(seconds.rounded1) s: \
            \(bound.above) above the limit, at most \((bound.share * 100).rounded1) % of it used, \(sum(1)) cancelled, \
            \(sum(2)) failed, \(sum(3)) counted locally
            """, broken: bound.above + sum(2) + sum(3) + (isComplete ? 0 : 1))
    }

    /// Many processes request a key at the same moment; the origin counts.
    func testFlights(_ server: RedisServer) throws {
        let processes = max(12, requests / 1000)
        let origin = try Origin()
        let children = try (0..<processes).map { _ in try Child(["flight", server.url(), origin.url, "flight"]) }
        var (wrong, extra, rounds) = (0, 0, 0)
        for round in 0..<(requests < 10_000 ? 2 : 20) {
            for kind in ["missing", "expired", "unchanged"] {
                let path = "/\(kind)/\(round)"
                let first = kind == "missing" ? 0 : 1
                if first == 1 {
                    children[0].send(path)
                    _ = try children[0].words()
                }
                children.forEach { $0.send(path) }
                let expected = Origin.body(path, kind == "expired" ? 2 : 1)
                for child in children where try child.words().joined(separator: " ") != expected {
                    wrong += 1
                }
                extra += abs(origin.count(of: path) - first - 1)
                rounds += 1
            }
        }
        report(
            "flights",
            """
            \(processes) processes, \(rounds) keys that were missing, expired or unchanged: \(extra) requests more than \
            one a key, \(wrong) wrong bodies
            """, broken: extra + wrong)
    }
}

extension Double {
    /// The number with one decimal.
    var rounded1: Double { (self * 10).rounded() / 10 }
}
#endif
