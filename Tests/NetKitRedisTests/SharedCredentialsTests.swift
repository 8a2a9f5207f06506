#if Redis
import NetKitTesting
import Testing

@testable import NetKit
@testable import NetKitRedis

@Suite(.timeLimit(.minutes(5)), .enabled(if: RedisServer.isInstalled))
struct SharedCredentialsTests {
    private let server: RedisServer
    private let prefix = String.unique
    private let key = [UInt8](repeating: 5, count: 32)

    init() async throws {
        server = try await RedisServer.shared.value
    }

    private func credentials() async throws -> SharedCredentials<String> {
        let client = try await server.connected(try server.client(prefix, sealKey: key))
        return try SharedCredentials(client, name: "accounts")
    }

    @Test func tenProcessesRefreshOnce() async throws {
        let count = Lock(0)
        var processes: [SharedCredentials<String>] = []
        for _ in 0..<10 {
            processes.append(try await credentials())
        }
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
        let (one, other) = (try await credentials(), try await credentials())
        let error = await #expect(throws: NetError.self) {
            _ = try await one.refreshed("old") { _ in throw NetError(.refused, "no") }
        }
        #expect(error?.code == .refused)
        #expect(try await other.refreshed("old") { _ in "new" } == "new")
        #expect(try await one.refreshed("old") { _ in "not called" } == "new")
    }

    @Test func credentialsAreNeverOnTheServerInPlainText() async throws {
        let open = try server.client(prefix)
        let error = #expect(throws: NetError.self) { try SharedCredentials<String>(open, name: "accounts") }
        #expect(error?.code == .usage)
        await (try await credentials()).store("a secret")
        let names = try await server.connected(open).send([Bytes("KEYS"), Bytes("{\(prefix)*")]).items ?? []
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
