internal import Dispatch
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A regular file that is read from an offset on. Other kinds of files are refused, because reading a FIFO without a
/// writer would block the thread, even after the task is cancelled.
struct RegularFile: ~Copyable {
    /// The length of the file when it was opened.
    let byteCount: Int
    private let path: String
    private let descriptor: Int32

    /// Opens a file. Throws ``NetError/Code/file`` if that fails or it is not a regular file, and
    /// ``NetError/Code/usage`` for a path with a NUL byte, which the system would treat as the end of the path, and for
    /// an offset beyond the end of the file.
    init(_ path: String, from offset: Int = 0) throws(NetError) {
        if path.utf8.contains(0) {
            throw NetError(.usage, "the path of a file contains a NUL byte")
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
                .file, "'\(path)' is not a regular file",
                nativeCode: Int(info.st_mode & S_IFMT == S_IFDIR ? EISDIR : ESPIPE))
        }
        if offset > info.st_size || lseek(descriptor, off_t(offset), SEEK_SET) < 0 {
            close(descriptor)
            throw NetError(.usage, "the body begins at byte \(offset), but '\(path)' has only \(info.st_size)")
        }
        self.path = path
        self.descriptor = descriptor
        byteCount = Int(info.st_size)
    }

    deinit {
        close(descriptor)
    }

    /// Returns the next bytes, at most `capacity`. Returns no bytes at the end of the file.
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

/// Reads whole files on a thread that may wait for the disk.
enum SmallFile {
    /// The largest file that is read, which is more than the size of any certificate or password file.
    private static let maximumBytes = 16 << 20
    private static let queue = DispatchQueue(label: "netkit.files")

    /// Returns the contents of a file. Throws ``NetError/Code/file`` if it is not a regular file, cannot be read, or is
    /// too large.
    static func contents(of path: String) async throws(NetError) -> Bytes {
        let read: Result<Bytes, NetError> = await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: Result { () throws(NetError) in try readWhole(path) }) }
        }
        return try read.get()
    }

    private static func readWhole(_ path: String) throws(NetError) -> Bytes {
        let file = try RegularFile(path)
        var contents: [UInt8] = []
        while file.byteCount <= maximumBytes, contents.count <= maximumBytes {
            let piece = try file.read(upTo: 1 << 16)
            if piece.isEmpty {
                return Bytes(contents)
            }
            contents += piece
        }
        throw NetError(.file, "'\(path)' is larger than \(maximumBytes >> 20) MiB")
    }
}
