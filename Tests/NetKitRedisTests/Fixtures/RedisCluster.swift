#if Redis
import CNetTesting
import NetKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@testable import NetKitRedis

/// A cluster of three nodes on loopback, each with a third of the slots.
final class RedisCluster: Sendable {
    /// A cluster for all tests. Each test has its own prefix.
    static let shared = Task { try await RedisCluster() }

    /// The slots of node n begin at index n, and end before the next one's.
    private static let firstSlots = [0, 5461, 10923, 16384]

    let nodes: [RedisServer]
    /// Reserve the ports of the cluster bus.
    private let holders: [Int32]

    private init() async throws {
        var nodes: [RedisServer] = []
        var holders: [Int32] = []
        var buses: [UInt16] = []
        for _ in 0..<3 {
            var bus: UInt16 = 0
            holders.append(unsafe nct_port_reserve(&bus))
            buses.append(bus)
            // The default port of the bus, 10000 above the node's own, may not exist.
            nodes.append(
                try await RedisServer.start([
                    "--cluster-enabled", "yes", "--cluster-port", "\(bus)", "--cluster-node-timeout", "60000",
                ]))
        }
        self.nodes = nodes
        self.holders = holders
        // A client of a Unix socket does not follow redirections.
        let direct = try nodes.map { try $0.client("c") }
        for (index, client) in direct.enumerated() {
            let (first, next) = (Self.firstSlots[index], Self.firstSlots[index + 1])
            _ = try await client.connected()
            try await client.configure(["CLUSTER", "ADDSLOTSRANGE", "\(first)", "\(next - 1)"])
            try await client.configure(["CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)"])
            if index > 0 {
                try await client.configure(["CLUSTER", "MEET", "127.0.0.1", "\(nodes[0].port)", "\(buses[0])"])
            }
        }
        for client in direct {
            while try await !client.hasCompleteCluster {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    deinit {
        for holder in holders {
            close(holder)
        }
    }
}

extension RedisClient {
    fileprivate func configure(_ words: [String]) async throws {
        _ = try await send(words.map { Bytes($0) })
    }

    /// Whether the node knows all slots.
    fileprivate var hasCompleteCluster: Bool {
        get async throws {
            let info = String(decoding: try await send([Bytes("CLUSTER"), Bytes("INFO")]).bytes ?? [], as: UTF8.self)
            return info.contains("cluster_slots_ok:16384") && info.contains("cluster_state:ok")
        }
    }
}

/// The servers on which the shared types must behave alike.
enum Topology: CaseIterable {
    case server, cluster

    /// Returns clients that are connected, each with its own connections as in another process. In the cluster, they
    /// are connected to different nodes, so that most of them follow a redirection.
    func clients(_ count: Int, _ prefix: String, sealKey: [UInt8]? = nil) async throws -> [RedisClient] {
        var clients: [RedisClient] = []
        for index in 0..<count {
            let client =
                switch self {
                case .server: try await RedisServer.shared.value.client(prefix, sealKey: sealKey)
                case .cluster:
                    try RedisClient(
                        try await RedisCluster.shared.value.nodes[index % 3].portURL, prefix: prefix,
                        timeLimit: .seconds(30), sealKey: sealKey)
                }
            clients.append(try await client.connected())
        }
        return clients
    }
}
#endif
