#if os(Linux)
import Glibc

/// A terminal that nobody looks at, for one test.
final class PseudoTerminal: Sendable {
    /// What a process gets for its standard error.
    let end: Int32
    private let master: Int32

    init(columns: UInt16) throws {
        // The numbers are TIOCSPTLCK and TIOCGPTN, which Swift does not import.
        var isLocked: Int32 = 0
        var number: UInt32 = 0
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        guard master >= 0, unsafe ioctl(master, 0x4004_5431, &isLocked) == 0,
            unsafe ioctl(master, 0x8004_5430, &number) == 0
        else { throw SystemFailure(call: "ptmx") }
        end = unsafe open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard end >= 0, unsafe ioctl(end, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemFailure(call: "pts") }
    }

    deinit {
        close(end)
        close(master)
    }

    /// What was written to it, 4 KiB at most: nobody reads while a process writes.
    var text: String {
        var bytes = [UInt8](repeating: 0, count: 8192)
        var length = 0
        while length < bytes.count {
            let count = unsafe bytes.withUnsafeMutableBytes { buffer in
                unsafe read(
                    master, UnsafeMutableRawBufferPointer(rebasing: buffer[length...]).baseAddress,
                    buffer.count - length)
            }
            if count <= 0 {
                break
            }
            length += count
        }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
#endif
