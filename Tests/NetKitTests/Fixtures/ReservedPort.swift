import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A port of 127.0.0.1 that no other process can take. It refuses connections, or accepts them and stays silent.
final class ReservedPort: Sendable {
    enum Failure: Error {
        case notReserved
        case notConnected
    }

    let number: UInt16
    private let descriptor: Int32

    init(acceptsConnections: Bool) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let fd = descriptor
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe bind(fd, generic, length) == 0 && getsockname(fd, generic, &length) == 0
            }
        }
        number = UInt16(bigEndian: address.sin_port)
        guard isBound, !acceptsConnections || listen(fd, 16) == 0 else { throw Failure.notReserved }
    }

    /// Waits until a client has connected.
    func waitForConnection() async throws {
        let fd = descriptor
        let isConnected = await withCheckedContinuation { continuation in
            DispatchQueue(label: "ReservedPort.wait").async {
                var event = pollfd(fd: fd, events: Int16(POLLIN), revents: 0)
                continuation.resume(returning: unsafe poll(&event, 1, 60_000) == 1)
            }
        }
        if !isConnected {
            throw Failure.notConnected
        }
    }

    deinit {
        close(descriptor)
    }
}
