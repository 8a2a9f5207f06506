#if Redis
import CNetTesting
@preconcurrency import Glibc
import NetKit

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// A Redis or Valkey server in a temporary folder. It ends with this process.
final class RedisServer: @unchecked Sendable {
    private let program: String
    let isSecure: Bool
    let folder: String
    let port: UInt16
    private let holder: Int32
    private var process: OpaquePointer?

    init(_ program: String, isSecure: Bool) throws {
        self.program = program
        self.isSecure = isSecure
        var template = Array("/tmp/nk-torture-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure("no temporary folder") }
        folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var port: UInt16 = 0
        holder = nct_port_reserve(&port)
        self.port = port
        if isSecure, nct_identity_write(.NCT_TLS_VALID, folder) != 0 {
            throw Failure("no certificate")
        }
    }

    /// The policy that trusts the server's certificate.
    var trust: TrustPolicy? {
        guard isSecure else { return nil }
        var policy = TrustPolicy()
        policy.roots = .file("\(folder)/ca.pem")
        return policy
    }

    /// The URL, of the server or of a relay in front of it.
    func url(port: UInt16? = nil) -> String { "\(isSecure ? "rediss" : "redis")://localhost:\(port ?? self.port)" }

    /// Starts the server, empty, and waits until it accepts connections.
    func start() throws {
        var words = [program, "--dir", folder, "--bind", "127.0.0.1", "--save", "", "--unixsocket", "\(folder)/socket"]
        words += ["--pidfile", "\(folder)/pid", "--maxmemory-policy", "noeviction"]
        words += isSecure ? ["--port", "0", "--tls-port", "\(port)"] : ["--port", "\(port)"]
        if isSecure {
            words += ["--tls-cert-file", "cert.pem", "--tls-key-file", "key.pem", "--tls-ca-cert-file", "ca.pem"]
            words += ["--tls-auth-clients", "no"]
        }
        let texts = words.map { strdup($0) }
        defer { texts.forEach { free($0) } }
        let pointers: [UnsafePointer<CChar>?] = texts.map { UnsafePointer($0) } + [nil]
        let status = pointers.withUnsafeBufferPointer { words in
            "\(folder)/log".withCString { log in
                guard let arguments = words.baseAddress else { return EINVAL }
                var options = nct_process_options(
                    arguments: arguments, variable: nil, port: port, descriptors: nil, descriptor_count: 0,
                    log_path: log)
                return nct_process_start(&process, &options)
            }
        }
        guard status == 0 else { throw Failure("\(program) does not start: \(String(cString: strerror(status)))") }
    }

    /// Sends a signal to the server.
    func send(_ signal: Int32) {
        guard let file = fopen("\(folder)/pid", "r") else { return }
        defer { fclose(file) }
        var text = [CChar](repeating: 0, count: 32)
        if fgets(&text, 31, file) != nil, atoi(text) > 1 {
            kill(atoi(text), signal)
        }
    }

    /// Ends the server with SIGKILL.
    func crash() {
        send(SIGKILL)
        nct_process_stop(process)
        process = nil
    }

    func stop() {
        crash()
        close(holder)
        for name in ["socket", "pid", "log", "ca.pem", "cert.pem", "key.pem"] {
            unlink("\(folder)/\(name)")
        }
        rmdir(folder)
    }
}

/// A connection of the test itself, over the server's Unix socket. Calls block.
final class Control {
    private let file: UnsafeMutablePointer<FILE>

    init(_ server: RedisServer) throws {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: "\(server.folder)/socket".utf8) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard code == 0, let file = fdopen(descriptor, "r") else { throw Failure("no connection to the server") }
        self.file = file
    }

    deinit {
        fclose(file)
    }

    /// Sends a command. Returns the texts of its reply, whose arrays are flattened.
    @discardableResult
    func run(_ words: String...) throws -> [String] {
        var text = "*\(words.count)\r\n"
        for word in words {
            text += "$\(word.utf8.count)\r\n\(word)\r\n"
        }
        // The stream is for replies only: a socket cannot be positioned, as a stream for both requires.
        guard write(fileno(file), text, text.utf8.count) == text.utf8.count else { throw Failure("no connection") }
        return try reply()
    }

    private func reply() throws -> [String] {
        var buffer = [CChar](repeating: 0, count: 1 << 16)
        guard fgets(&buffer, Int32(buffer.count), file) != nil else { throw Failure("the server does not reply") }
        let line = text(of: buffer).prefix { !$0.isNewline }
        let rest = String(line.dropFirst())
        switch line.first {
        case "*": return try (0..<max(0, Int(rest) ?? 0)).flatMap { _ in try reply() }
        case "$":
            guard let count = Int(rest), count >= 0 else { return [] }
            var bytes = [UInt8](repeating: 0, count: count + 2)
            guard fread(&bytes, 1, bytes.count, file) == bytes.count else { throw Failure("a reply is cut") }
            return [String(decoding: bytes.dropLast(2), as: UTF8.self)]
        case "-": throw Failure("the server refuses a command: \(rest)")
        default: return [rest]
        }
    }
}
#endif
