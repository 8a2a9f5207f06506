#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import Dispatch

/// Files that are read whole, on a thread that may wait for the disk.
enum SmallFile {
    /// More than any certificate has, or list of passwords.
    private static let maximumBytes = 16 << 20
    private static let queue = DispatchQueue(label: "netkit.files")

    /// Throws ``NetError/Code/file`` for what is no regular file, or cannot be read.
    static func contents(of path: String) async throws(NetError) -> Bytes {
        let read: Result<Bytes, NetError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(NetError) in try readWhole(path) }) }
        }
        return try read.get()
    }

    private static func readWhole(_ path: String) throws(NetError) -> Bytes {
        // A named pipe would have to be waited for.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0 else { throw failure(path) }
        if info.st_mode & S_IFMT != S_IFREG || info.st_size > maximumBytes {
            throw NetError(.file, "'\(path)' is no regular file, or a large one")
        }
        var contents: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while contents.count <= maximumBytes {
            let count = unsafe piece.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 {
                break
            }
            if count > 0 {
                contents += piece[..<count]
            } else if errno != EINTR {
                throw failure(path)
            }
        }
        return Bytes(contents)
    }

    private static func failure(_ path: String) -> NetError {
        let code = errno
        return NetError(
            .file, "'\(path)' cannot be read: \(unsafe String(cString: strerror(code)))", nativeCode: Int(code))
    }
}
