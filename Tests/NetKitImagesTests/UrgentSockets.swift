#if Images
#if canImport(Glibc)
import Glibc
import NetKit

/// Both ends of a TCP connection over loopback, which can carry urgent data.
enum UrgentSockets {
    static func pair() throws -> (near: Int32, far: Int32) {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let far = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let isReady = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length) == 0 && listen(listener, 1) == 0
                    && getsockname(listener, address, &length) == 0 && connect(far, address, length) == 0
            }
        }
        let near = accept(listener, nil, nil)
        guard isReady, near >= 0 else { throw NetError(.connect, "no pair of sockets") }
        return (near, far)
    }

    static func sendUrgentByte(_ descriptor: Int32) {
        var byte: UInt8 = 1
        _ = unsafe send(descriptor, &byte, 1, Int32(MSG_OOB))
    }
}
#endif
#endif
