#if Redis
import CNetTesting
import Dispatch
import NetKit

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@testable import NetKitRedis

/// A Redis server that runs as a child process, with a Unix socket in a temporary folder. It ends when it is
/// deallocated, or with this process.
@safe final class RedisServer: Sendable {
    enum Failure: Error {
        case notStarted(Int32)
    }

    /// A server for all tests that do not disturb it. Each test has its own prefix.
    static let shared = Task { try await RedisServer.start() }

    /// Whether the server is installed. Always true if the environment variable CI is "true", so that a missing program
    /// fails the test there.
    static var isInstalled: Bool {
        if let ci = unsafe getenv("CI"), unsafe String(cString: ci) == "true" {
            return true
        }
        var path = [CChar](repeating: 0, count: 4096)
        return unsafe nct_program_find("redis-server", &path, path.count)
    }

    private let folder: TemporaryFolder
    private let options: [String]
    /// The port of 127.0.0.1.
    let port: UInt16
    /// The certificates of the server if it accepts only TLS.
    let certificates: GeneratedCertificates?
    private let holder: Int32
    /// The address of the running process of nettesting/process.h; 0 if there is none.
    private let running = Lock<UInt>(0)

    static func start(_ options: [String] = []) async throws -> RedisServer {
        let server = try RedisServer(options, nil)
        try await server.start()
        return server
    }

    /// Starts a server that accepts only TLS.
    ///
    /// - Parameter clients: the authority of the client certificates that the server requires. If `nil`, it requires
    ///   none.
    static func startTLS(clients: [UInt8]? = nil) async throws -> RedisServer {
        let certificates = try GeneratedCertificates()
        let server = try RedisServer(
            [
                "--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-ca-cert-file", "ca.pem",
                "--tls-auth-clients", clients == nil ? "no" : "yes",
            ], certificates)
        try server.folder.write(certificates.certificate, to: "cert.pem")
        try server.folder.write(certificates.key, to: "key.pem", mode: 0o600)
        try server.folder.write(clients ?? certificates.authority, to: "ca.pem")
        try await server.start()
        return server
    }

    private init(_ options: [String], _ certificates: GeneratedCertificates?) throws {
        folder = try TemporaryFolder()
        var port: UInt16 = 0
        holder = unsafe nct_port_reserve(&port)
        self.port = port
        self.options = options
        self.certificates = certificates
    }

    deinit {
        kill(SIGCONT)
        stop()
        close(holder)
    }

    /// Starts the server, also after ``crash()``.
    func start() async throws {
        // Waiting for the server blocks, which no thread of the cooperative pool may do.
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            DispatchQueue(label: "RedisServer.start").async {
                continuation.resume(with: Result { try self.launch() })
            }
        }
    }

    private func launch() throws {
        let words =
            [
                "redis-server", "--dir", folder.path, "--bind", "127.0.0.1", "--port",
                certificates == nil ? "\(port)" : "0", "--tls-port", certificates == nil ? "0" : "\(port)",
                "--save", "", "--unixsocket", folder.file("socket"), "--pidfile", folder.file("pid"),
            ] + options
        let texts = unsafe words.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        var pointers: [UnsafePointer<CChar>?] = unsafe texts.map { unsafe UnsafePointer($0) } + [nil]
        var made: OpaquePointer?
        let status = unsafe pointers.withUnsafeMutableBufferPointer { words in
            unsafe folder.file("log").withCString { log in
                guard let arguments = words.baseAddress else { return EINVAL }
                var options = unsafe nct_process_options(
                    arguments: arguments, variable: nil, port: port, descriptors: nil, descriptor_count: 0,
                    log_path: log)
                return unsafe nct_process_start(&made, &options)
            }
        }
        guard status == 0 else { throw Failure.notStarted(status) }
        let started = unsafe UInt(bitPattern: made)
        running.withLock { $0 = started }
    }

    private func stop() {
        let address = running.withLock { running in
            defer { running = 0 }
            return running
        }
        if let process = unsafe OpaquePointer(bitPattern: address) {
            unsafe nct_process_stop(process)
        }
    }

    /// Sends a signal to the server.
    func kill(_ signal: Int32) {
        guard let file = unsafe fopen(folder.file("pid"), "r") else { return }
        defer { unsafe fclose(file) }
        var text = [CChar](repeating: 0, count: 32)
        guard unsafe fgets(&text, 31, file) != nil else { return }
        let number = unsafe atoi(text)
        if number > 1 {
            Glibc.kill(number, signal)
        }
    }

    /// Ends the server without warning.
    func crash() {
        kill(SIGKILL)
        stop()
    }

    var url: String { "unix://\(folder.file("socket"))" }
    /// The address of the port. The scheme is `rediss` if the server accepts only TLS.
    var portURL: String { "\(certificates == nil ? "redis" : "rediss")://localhost:\(port)" }

    /// Creates a client with its own connection. The time limit is long, unless a test is about it.
    func client(
        _ prefix: String, timeLimit: Duration = .seconds(30), sealKey: [UInt8]? = nil
    ) throws -> RedisClient {
        try RedisClient(url, prefix: prefix, timeLimit: timeLimit, sealKey: sealKey)
    }

    /// Waits until the client is connected.
    func connected(_ client: RedisClient) async throws -> RedisClient {
        try await client.connected()
    }
}

extension RedisClient {
    /// Waits until the client is connected.
    func connected() async throws -> RedisClient {
        while true {
            try Task.checkCancellation()
            if (try? await send([Bytes("PING")])) != nil {
                return self
            }
            await Task.yield()
        }
    }
}

extension String {
    /// A prefix that no other test has.
    static var unique: String { "t\(UInt64.random(in: 0 ... .max))" }
}
#endif
