internal import Dispatch
#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

/// A file that is either complete or absent. It is written to a temporary file in the directory of its destination,
/// synced and renamed.
package final class WholeFile {
    private let path: String
    private let temporary: String
    private var descriptor: Int32

    /// Creates the temporary file.
    ///
    /// - Parameters:
    ///   - path: the destination.
    ///   - mode: the permissions of the new file, from which the umask of the process is subtracted. If `nil`, the new
    ///     file gets the permissions of the file that it replaces, and its owner if the system allows that.
    package init(_ path: String, mode: mode_t? = nil) throws(NetError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw NetError(.usage, "the path of the file is empty or contains a NUL byte")
        }
        let replaced = try Self.checkDestination(path)
        self.path = path
        temporary = Self.nameBeside(path)
        // The temporary file must never be more accessible than the file that it will replace.
        let initialMode = mode ?? replaced.map { $0.st_mode & 0o666 | 0o600 } ?? 0o666
        descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, initialMode)
        if descriptor < 0 {
            throw failure("written")
        }
        if mode == nil, let replaced {
            copyRights(of: replaced)
        }
    }

    /// Copies the owner and permissions of the replaced file. The owner is set first, because changing it clears bits
    /// of the mode. Errors are ignored, because some file systems support neither.
    private func copyRights(of replaced: stat) {
        if fchown(descriptor, replaced.st_uid, replaced.st_gid) != 0 {
            _ = fchown(descriptor, uid_t.max, replaced.st_gid)
        }
        _ = fchmod(descriptor, replaced.st_mode & 0o777)
    }

    deinit {
        if descriptor >= 0 {
            close(descriptor)
            discard()
        }
    }

    /// Returns a path for a temporary file. It is in the directory of `path`, so that a rename stays within the file
    /// system. Its name begins with at most 32 characters of the original name, so that it is not too long.
    static func nameBeside(_ path: String) -> String {
        let nameStart = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
        let namePrefix = Substring(path[nameStart...].unicodeScalars.prefix(32))
        return "\(path[..<nameStart])\(namePrefix).nk-\(UInt64.random(in: 0 ... .max)).part"
    }

    /// Throws an error if a rename would replace a device, or a file that is write-protected. A directory is not
    /// checked, because the rename itself fails for it.
    ///
    /// - Returns: the status of the file that will be replaced; `nil` if there is none.
    @discardableResult static func checkDestination(_ path: String) throws(NetError) -> stat? {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        if info.st_mode & S_IFMT != S_IFREG && info.st_mode & S_IFMT != S_IFDIR {
            throw NetError(.file, "'\(path)' is not a regular file and would be overwritten", nativeCode: Int(ESPIPE))
        }
        guard info.st_mode & S_IFMT == S_IFREG else { return nil }
        if unsafe access(path, W_OK) != 0, [EACCES, EPERM, EROFS].contains(errno) {
            throw NetError(system: errno, "'\(path)' cannot be written")
        }
        return info
    }

    private func failure(_ action: String) -> NetError {
        NetError(system: errno, "'\(path)' cannot be \(action)")
    }

    private func discard() {
        _ = unsafe unlink(temporary)
    }

    /// Writes all bytes.
    package func write(_ bytes: Bytes) throws(NetError) {
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

    /// Syncs a directory, so that the names of its files survive a power failure.
    package static func sync(folder: String) throws(NetError) {
        let descriptor = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { _ = descriptor < 0 ? 0 : close(descriptor) }
        if descriptor < 0 || fsync(descriptor) != 0 {
            throw NetError(system: errno, "'\(folder)' cannot be synced")
        }
    }

    /// Syncs the file and renames it to its destination. Some errors, such as a full disk, may be reported only here.
    package func keep() throws(NetError) {
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

/// An executor for work that waits for a disk. It keeps such work away from actors, the event loop and the cooperative
/// pool. An instance is cheap and is created for each use; the threads belong to Dispatch.
package final class DiskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "netkit.disk", attributes: .concurrent)

    /// Creates an executor for one use.
    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
