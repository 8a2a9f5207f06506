#if Redis
import CNetTesting
@preconcurrency import Glibc

/// Forwards connections to a server's port, and cuts one of them after a number of bytes.
final class Relay: @unchecked Sendable {
    private struct Cut {
        let isOfServer: Bool
        var bytes: Int
    }

    private let listener: Int32
    private let target: UInt16
    private(set) var port: UInt16 = 0
    private let cut = Guarded<Cut?>(nil)

    init(to target: UInt16) throws {
        self.target = target
        listener = nct_port_listen(&port)
        guard listener >= 0 else { throw Failure("the relay does not start") }
        startThread {
            while true {
                let client = accept(self.listener, nil, nil)
                guard client >= 0 else { return }
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                startThread { self.forward(client) }
            }
        }
    }

    /// Ends the relay; connections end with their clients.
    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Whether the cut has been made.
    var isCut: Bool { cut.with { $0 == nil } }

    /// Cuts the connection after which `bytes` more bytes of the server or of the clients have passed.
    func cut(isOfServer: Bool, after bytes: Int) {
        cut.with { $0 = Cut(isOfServer: isOfServer, bytes: bytes) }
    }

    private func forward(_ client: Int32) {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(client)
            close(server)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = target.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 4096)
        var events = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&events, 2, -1) > 0 {
            for (index, event) in events.enumerated() where event.revents != 0 {
                let length = recv(event.fd, &buffer, buffer.count, 0)
                let forwarded = length <= 0 ? 0 : passed(length, isOfServer: index == 1)
                let sent = send(events[1 - index].fd, buffer, forwarded, Int32(MSG_NOSIGNAL))
                if length <= 0 || forwarded < length || sent < forwarded {
                    return
                }
            }
        }
    }

    /// Returns how many of these bytes come before the cut.
    private func passed(_ length: Int, isOfServer: Bool) -> Int {
        cut.with { cut in
            guard let armed = cut, armed.isOfServer == isOfServer else { return length }
            guard armed.bytes < length else {
                cut?.bytes -= length
                return length
            }
            cut = nil
            return armed.bytes
        }
    }
}
#endif
