import Foundation
import NetKit
import NetKitRedis

/// The server that REDIS_URL names, or a redis-server on a Unix socket in a temporary folder.
struct LocalRedis {
    let url: String
    private var server: (process: Process, folder: URL)?

    init() async throws {
        if let url = ProcessInfo.processInfo.environment["REDIS_URL"] {
            self.url = url
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("workers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        url = "unix://\(folder.path)/socket"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "redis-server", "--dir", folder.path, "--port", "0", "--unixsocket", folder.path + "/socket", "--save", "",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        server = (process, folder)
        // A client connects in the background, so commands fail until the server has started.
        let store = RedisCacheStore(try RedisClient(url))
        while (try? await store.usage()) == nil {
            guard process.isRunning else { throw NetError(.usage, "cannot start redis-server; set REDIS_URL") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Ends the server that was started here.
    func stop() {
        guard let (process, folder) = server else { return }
        process.terminate()
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }
}
