import CNetTesting
import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Somebody else's server, run as a child; it ends with its last reference, or with this process.
@safe final class OtherServer: Sendable {
    enum Failure: Error {
        case noPort(Int32)
        case notStarted(String, Int32)
    }

    /// What script/bootstrap --tests makes, with httpbin in it.
    static let python =
        "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/") + "/build/venv/bin/python"

    let port: UInt16
    // SAFETY: nettesting/process.h: started once in init, stopped once in deinit, from whichever thread.
    private nonisolated(unsafe) let raw: OpaquePointer
    private let holder: Int32

    /// - Parameters:
    ///   - inherits: the server takes its open port as descriptor 3; else it opens the port that is held for it.
    ///   - arguments: the program and what it is told, for a port.
    static func start(
        inherits: Bool = false, _ arguments: @escaping @Sendable (UInt16) -> [String]
    ) async throws -> OtherServer {
        // Waiting until it is ready blocks, which no thread of the concurrency pool may.
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "OtherServer.start").async {
                continuation.resume(with: Result { try OtherServer(inherits: inherits, arguments) })
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

    /// Whether a program is there; where CI is "true" it has to be.
    static func isInstalled(_ program: String) -> Bool {
        if let ci = unsafe getenv("CI"), unsafe String(cString: ci) == "true" {
            return true
        }
        var path = [CChar](repeating: 0, count: 4096)
        return unsafe nct_program_find(program, &path, path.count)
    }
}
