#if Redis
import NetKitTesting
import Testing

@testable import NetKit
@testable import NetKitRedis

@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedCredentialsTests {
    private let prefix = String.unique
    private let key = [UInt8](repeating: 5, count: 32)

    private func processes(_ count: Int, on topology: Topology = .server) async throws -> [SharedCredentials<String>] {
        try await topology.clients(count, prefix, sealKey: key).map { try SharedCredentials($0, name: "accounts") }
    }

    @Test(arguments: Topology.allCases)
    func tenProcessesRefreshOnce(topology: Topology) async throws {
        let count = Lock(0)
        let processes = try await processes(10, on: topology)
        for (expired, fresh) in [(nil, "new 1"), ("new 1", "new 2")] {
            try await withThrowingTaskGroup(of: String.self) { group in
                for process in processes {
                    group.addTask {
                        try await process.refreshed(expired) { _ in
                            "new \(count.withLock { count in count += 1; return count })"
                        }
                    }
                }
                for try await token in group {
                    #expect(token == fresh)
                }
            }
        }
        #expect(count.withLock { $0 } == 2)
        #expect(await processes[3].current() == "new 2")
    }

    @Test func refreshThatFailsIsTriedByTheNextProcess() async throws {
        let processes = try await processes(2)
        let (one, other) = (processes[0], processes[1])
        let error = await #expect(throws: NetError.self) {
            _ = try await one.refreshed("old") { _ in throw NetError(.refused, "no") }
        }
        #expect(error?.code == .refused)
        #expect(try await other.refreshed("old") { _ in "new" } == "new")
        #expect(try await one.refreshed("old") { _ in "not called" } == "new")
    }

    @Test func credentialsAreNeverOnTheServerInPlainText() async throws {
        let open = try await Topology.server.clients(1, prefix)[0]
        let error = #expect(throws: NetError.self) { try SharedCredentials<String>(open, name: "accounts") }
        #expect(error?.code == .usage)
        await (try await processes(1)[0]).store("a secret")
        let names = try await open.send([Bytes("KEYS"), Bytes("{\(prefix)*")]).items ?? []
        #expect(names.count == 1)
        for name in names.compactMap(\.bytes) {
            let value = try await open.send([Bytes("GET"), name]).bytes ?? []
            #expect(!String(decoding: value, as: UTF8.self).contains("secret"))
        }
    }

    @Test func processRefreshesAloneWithoutAServer() async throws {
        let client = try RedisClient("unix:///tmp/nk-no-such-socket", sealKey: key)
        let credentials = try SharedCredentials<String>(client, name: "accounts")
        #expect(try await credentials.refreshed("old") { _ in "new" } == "new")
        #expect(await credentials.current() == nil)
    }
}
#endif
