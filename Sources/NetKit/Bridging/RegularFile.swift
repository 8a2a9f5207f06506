#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A regular file, read from its beginning. Other kinds are refused: a FIFO without a writer would block the thread,
/// even after the task was cancelled.
struct RegularFile: ~Copyable {
    /// Its length when it was opened.
    let byteCount: Int
    private let path: String
    private let descriptor: Int32

    /// Throws ``NetError/Code/file``, or ``NetError/Code/usage`` for a path that the system would read as another
    /// file's.
    init(_ path: String) throws(NetError) {
        if path.utf8.contains(0) {
            throw NetError(.usage, "the path of a file holds a NUL")
        }
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            throw NetError(system: errno, "'\(path)' cannot be opened")
        }
        var info = stat()
        if unsafe fstat(descriptor, &info) != 0 {
            defer { close(descriptor) }
            throw NetError(system: errno, "'\(path)' cannot be examined")
        }
        if info.st_mode & S_IFMT != S_IFREG {
            close(descriptor)
            throw NetError(
                .file, "'\(path)' is no regular file",
                nativeCode: Int(info.st_mode & S_IFMT == S_IFDIR ? EISDIR : ESPIPE))
        }
        self.path = path
        self.descriptor = descriptor
        byteCount = Int(info.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// Returns at most `capacity` bytes; none at the end.
    func read(upTo capacity: Int) throws(NetError) -> [UInt8] {
        while true {
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, filled in
                count = unsafe systemRead(descriptor, buffer)
                filled = max(0, count)
            }
            if count >= 0 {
                return piece
            }
            if errno != EINTR {
                throw NetError(system: errno, "'\(path)' cannot be read")
            }
        }
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    unsafe read(descriptor, buffer.baseAddress, buffer.count)
}
