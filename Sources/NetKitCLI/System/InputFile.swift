#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is read.
final class InputFile {
    private static let pieceBytes = 256 << 10
    private let descriptor: Int32

    /// Opens it; "-" is standard input.
    init(_ path: String) throws(SystemError) {
        descriptor = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
    }

    deinit {
        if descriptor > 0 {
            close(descriptor)
        }
    }

    /// The next bytes; none at the end.
    func next() throws(SystemError) -> [UInt8] {
        while true {
            var number: Int32 = 0
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceBytes) { buffer, filled in
                count = unsafe systemRead(descriptor, buffer.baseAddress, buffer.count)
                number = errno
                filled = max(0, count)
            }
            if count >= 0 {
                return piece
            }
            if number != EINTR {
                throw SystemError(number: number)
            }
        }
    }

    /// Its length; nil when it is no regular file, so that only reading tells.
    static func length(of path: String) throws(SystemError) -> Int? {
        if path == "-" {
            return nil
        }
        var status = stat()
        let isReadable = unsafe stat(path, &status) == 0 && access(path, R_OK) == 0
        if !isReadable {
            throw SystemError(number: errno)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw SystemError(number: EISDIR)
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }
}
