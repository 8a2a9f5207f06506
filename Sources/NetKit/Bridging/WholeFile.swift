#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is either complete or absent: written beside its destination, synced and renamed.
final class WholeFile {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// - Parameter mode: the new file's permissions, before the process's umask; `nil` keeps those of the replaced
    ///   file, and its owner if the system allows that.
    init(_ path: String, mode: mode_t? = nil) throws(NetError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw NetError(.usage, "the path is empty or holds a NUL")
        }
        let old = try Self.checkPlace(path)
        self.path = path
        temporary = Self.nameBeside(path)
        // As private as the file that it will replace, from its first byte on.
        let first = mode ?? old.map { $0.st_mode & 0o666 | 0o600 } ?? 0o666
        descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first)
        if descriptor < 0 {
            throw failure("written")
        }
        if mode == nil, let old {
            keepRights(of: old)
        }
    }

    /// Copies the old file's owner and permissions. The owner comes first, because changing it clears bits of the mode.
    /// Errors are ignored: some file systems have neither.
    private func keepRights(of old: stat) {
        if fchown(descriptor, old.st_uid, old.st_gid) != 0 {
            _ = fchown(descriptor, uid_t.max, old.st_gid)
        }
        _ = fchmod(descriptor, old.st_mode & 0o777)
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            discard()
        }
    }

    /// In the same directory, so that the rename stays within a file system; short enough for any file name.
    static func nameBeside(_ path: String) -> String {
        let nameStart = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        let known = Substring(path[nameStart...].unicodeScalars.prefix(32))
        return "\(path[..<nameStart])\(known).nk-\(UInt64.random(in: 0 ... .max)).part"
    }

    /// Checks that a rename would not replace a device, or a file that its owner has protected. A directory causes an
    /// error of its own.
    ///
    /// - Returns: the file that will be replaced; `nil` if there is none.
    @discardableResult static func checkPlace(_ path: String) throws(NetError) -> stat? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        if info.st_mode & S_IFMT != S_IFREG && info.st_mode & S_IFMT != S_IFDIR {
            throw NetError(.file, "'\(path)' is no regular file, and would be lost", nativeCode: Int(ESPIPE))
        }
        guard info.st_mode & S_IFMT == S_IFREG else { return nil }
        if unsafe access(path, W_OK) != 0, [EACCES, EPERM, EROFS].contains(errno) {
            throw NetError(system: errno, "'\(path)' cannot be written")
        }
        return info
    }

    private func failure(_ what: String) -> NetError {
        NetError(system: errno, "'\(path)' cannot be \(what)")
    }

    private func discard() {
        _ = unsafe unlink(temporary)
    }

    /// Writes all bytes, in as many calls as needed.
    func write(_ bytes: Bytes) throws(NetError) {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withSpan { span in
                unsafe span.extracting(offset...).withUnsafeBytes { unsafe systemWrite(descriptor, $0) }
            }
            if count < 0, errno != EINTR {
                throw failure("written")
            }
            offset += max(0, count)
        }
    }

    /// Makes a directory's names survive a power failure.
    static func sync(folder: String) throws(NetError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { _ = descriptor < 0 ? 0 : close(descriptor) }
        if descriptor < 0 || fsync(descriptor) != 0 {
            throw NetError(system: errno, "'\(folder)' cannot be synced")
        }
    }

    /// Renames the file to its destination. A full disk may be reported only here.
    func keep() throws(NetError) {
        let isSynced = fsync(descriptor) == 0
        let syncCode = errno
        let isClosed = close(descriptor) == 0 || errno == EINTR
        descriptor = -1
        if !isSynced || !isClosed {
            errno = isSynced ? errno : syncCode
            let failure = failure("written")
            discard()
            throw failure
        }
        if unsafe rename(temporary, path) != 0 {
            let failure = failure("replaced")
            discard()
            throw failure
        }
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    unsafe write(descriptor, bytes.baseAddress, bytes.count)
}
