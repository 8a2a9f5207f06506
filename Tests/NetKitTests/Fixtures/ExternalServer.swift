import CNetTesting
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A third-party server that runs as a child process. It ends when it is deallocated, or with this process.
@safe final class ExternalServer: Sendable {
    enum Failure: Error {
        case noPort(Int32)
        case notStarted(String, Int32)
    }

    /// The Python environment that `script/bootstrap --tests` creates, with httpbin.
    static let python =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/build/venv/bin/python"

    let port: UInt16
    // SAFETY: nettesting/process.h: started once in `init`, stopped once in `deinit`, on any thread.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let holder: Int32

    /// - Parameters:
    ///   - inherits: Whether the server takes its open port as descriptor 3. Otherwise it opens the port that is
    ///     reserved for it.
    ///   - arguments: Returns the program and its arguments for a port.
    static func start(
        inherits: Bool = false, _ arguments: @escaping @Sendable (UInt16) -> [String]
    ) async throws -> ExternalServer {
        // Waiting for the server blocks, which no thread of the cooperative pool may do.
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "ExternalServer.start").async {
                continuation.resume(with: Result { try ExternalServer(inherits: inherits, arguments) })
            }
        }
    }

    private init(inherits: Bool, _ arguments: (UInt16) -> [String]) throws {
        var port: UInt16 = 0
        holder = unsafe inherits ? nct_port_listen(&port) : nct_port_reserve(&port)
        guard holder >= 0 else { throw Failure.noPort(errno) }
        self.port = port
        let words = arguments(port)
        let texts = unsafe words.map { unsafe strdup($0) }
        defer { unsafe texts.forEach { unsafe free($0) } }
        var pointers: [UnsafePointer<CChar>?] = unsafe texts.map { unsafe UnsafePointer($0) } + [nil]
        var made: OpaquePointer?
        let descriptors = [holder]
        let status = unsafe pointers.withUnsafeMutableBufferPointer { words in
            unsafe descriptors.withUnsafeBufferPointer { descriptors in
                guard let arguments = words.baseAddress else { return EINVAL }
                var options = unsafe nct_process_options(
                    arguments: arguments, variable: nil, port: port, descriptors: descriptors.baseAddress,
                    descriptor_count: 1, log_path: nil)
                return unsafe nct_process_start(&made, &options)
            }
        }
        guard status == 0, let made = unsafe made else {
            close(holder)
            throw Failure.notStarted(words[0], status)
        }
        unsafe raw = made
    }

    deinit {
        unsafe nct_process_stop(raw)
        close(holder)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// Returns whether a program is installed. Always true if the environment variable CI is "true", so that a missing
    /// program fails the test there.
    static func isInstalled(_ program: String) -> Bool {
        if let ci = unsafe getenv("CI"), unsafe String(cString: ci) == "true" {
            return true
        }
        var path = [CChar](repeating: 0, count: 4096)
        return unsafe nct_program_find(program, &path, path.count)
    }
}
