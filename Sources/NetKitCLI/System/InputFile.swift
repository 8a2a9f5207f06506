#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// An input file.
final class InputFile {
    /// The limit for files that users write, such as documents, certificates and cookie files.
    static let maxDocumentBytes = 64 << 20
    /// The limit for data that is sent or served from memory. curl has the same limit for -d.
    static let maxDataBytes = 1 << 30
    private static let pieceBytes = 256 << 10
    private let descriptor: Int32

    /// Opens a file. "-" is standard input.
    init(_ path: String) throws(SystemError) {
        descriptor = path == "-" ? 0 : unsafe open(path, O_RDONLY | O_CLOEXEC)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
    }

    /// Opens a regular file. Returns `nil` for other types of files without opening them, because opening a pipe may
    /// block, and a device may be endless.
    init?(regular path: String) throws(SystemError) {
        guard try Self.status(of: path).st_mode & S_IFMT == S_IFREG else { return nil }
        // O_NONBLOCK is needed because some regular files in /proc block until data is available.
        descriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
    }

    deinit {
        if descriptor > 0 {
            close(descriptor)
        }
    }

    /// Returns the next bytes. Returns no bytes at the end of the file.
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

    /// Returns the remaining contents of the file. Throws EFBIG if they exceed the limit.
    func contents(maxBytes: Int) throws(SystemError) -> [UInt8] {
        // A file whose reported size exceeds the limit is refused without reading it.
        var status = stat()
        if unsafe fstat(descriptor, &status) == 0, status.st_size > maxBytes {
            throw SystemError(number: EFBIG)
        }
        var contents: [UInt8] = []
        while true {
            let piece = try next()
            if piece.isEmpty {
                return contents
            }
            if piece.count > maxBytes - contents.count {
                throw SystemError(number: EFBIG)
            }
            contents += piece
        }
    }

    /// Returns the contents of a file. "-" is standard input.
    static func contents(of path: String, maxBytes: Int = maxDocumentBytes) throws(SystemError) -> [UInt8] {
        try InputFile(path).contents(maxBytes: maxBytes)
    }

    /// Returns the non-empty lines of a text file.
    static func lines(of path: String) throws(SystemError) -> [String] { lines(in: try contents(of: path)) }

    /// Returns the non-empty lines of a text.
    static func lines(in bytes: [UInt8]) -> [String] {
        String(decoding: bytes, as: UTF8.self).split { $0 == "\n" || $0 == "\r\n" }.map(String.init)
    }

    /// Returns the length of a regular file. Returns `nil` for other types of files, whose length is unknown before
    /// they are read.
    static func length(of path: String) throws(SystemError) -> Int? {
        if path == "-" {
            return nil
        }
        let status = try status(of: path)
        if unsafe access(path, R_OK) != 0 {
            throw SystemError(number: errno)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw SystemError(number: EISDIR)
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    private static func status(of path: String) throws(SystemError) -> stat {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemError(number: errno) }
        return status
    }

    /// Returns true if two paths denote the same existing file.
    static func areSame(_ path: String, _ other: String) -> Bool {
        guard let status = try? status(of: path), let others = try? self.status(of: other) else { return false }
        return status.st_dev == others.st_dev && status.st_ino == others.st_ino
    }

    /// Returns the modification time in seconds since 1970, or `nil` if the file does not exist.
    static func modified(_ path: String) -> Int64? {
        guard let status = try? status(of: path) else { return nil }
        #if os(Linux)
        return Int64(status.st_mtim.tv_sec)
        #else
        return Int64(status.st_mtimespec.tv_sec)
        #endif
    }

    /// Returns true if a path denotes a character device such as /dev/null. A device has no contents that could be
    /// overwritten, and only root can create one.
    static func isDevice(_ path: String) -> Bool {
        (try? status(of: path)).map { $0.st_mode & S_IFMT == S_IFCHR } ?? false
    }

    static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }
}
