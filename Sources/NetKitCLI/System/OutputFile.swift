#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// An output file that is written under a temporary name and then renamed, so that it is never incomplete. Devices and
/// pipes are written directly.
final class OutputFile {
    private static let unfinished = Lock<Set<String>>([])

    private var descriptor: Int32
    private let resolvedPath: String
    /// The temporary path, or `nil` if the file is written directly.
    private var temporary: String?

    /// Opens an output file.
    ///
    /// - Parameter mode: the permissions of the file. If `nil`, a new file gets the default permissions, and a file
    ///   that replaces another gets the permissions of that one.
    init(at path: String, mode: mode_t? = nil) throws(SystemError) {
        if let number = Self.standardDescriptor(path) {
            descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
            resolvedPath = path
            if descriptor < 0 {
                throw SystemError(number: errno)
            }
            return
        }
        var status = stat()
        var exists = unsafe lstat(path, &status) == 0
        let isLink = exists && status.st_mode & S_IFMT == S_IFLNK
        if isLink {
            exists = unsafe stat(path, &status) == 0
        }
        if !exists && errno != ENOENT {
            throw SystemError(number: errno)
        }
        if exists && status.st_mode & S_IFMT != S_IFREG {
            descriptor = try Self.openFile(path, O_WRONLY, mode: 0)
            resolvedPath = path
            return
        }
        // A symbolic link is not replaced, but its target is. A file that has no path, such as a deleted one, is
        // written directly.
        guard let resolvedPath = isLink ? try Self.target(ofLink: path, exists: exists) : path else {
            descriptor = try Self.openFile(path, O_WRONLY | O_TRUNC, mode: 0)
            self.resolvedPath = path
            return
        }
        let mayWrite = unsafe !exists || access(resolvedPath, W_OK) == 0
        if !mayWrite {
            throw SystemError(number: errno)
        }
        // The temporary file is in the same directory, so that the rename stays within one file system. Its name is
        // short, so it is not too long even if the name of the file has the maximum length.
        let temporary = "\(Self.folder(of: resolvedPath)).nk-\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
        descriptor = try Self.openFile(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode ?? 0o666)
        self.resolvedPath = resolvedPath
        self.temporary = temporary
        _ = Self.unfinished.withLock { $0.insert(temporary) }
        if exists, mode == nil {
            copyRights(status)
        }
    }

    deinit {
        discard()
    }

    /// Copies the owner and permissions of the replaced file. The owner is set first, because chown clears permission
    /// bits. If the owner cannot be set, the set-user-ID bit is not copied, because it would apply to another user.
    private func copyRights(_ old: stat) {
        let isOwned = fchown(descriptor, old.st_uid, old.st_gid) == 0
        if !isOwned {
            fchown(descriptor, uid_t.max, old.st_gid)
        }
        fchmod(descriptor, old.st_mode & (isOwned ? 0o7777 : 0o777))
    }

    func write(_ bytes: Span<UInt8>) throws(SystemError) {
        try Terminal.write(bytes, to: descriptor)
    }

    /// Renames the file to its path. Some errors, such as a full disk, may be reported only here.
    func keep() throws(SystemError) {
        let isClosed = close(descriptor) == 0
        descriptor = -1
        if !isClosed {
            throw SystemError(number: errno)
        }
        if let temporary {
            if unsafe rename(temporary, resolvedPath) != 0 {
                throw SystemError(number: errno)
            }
            Self.removeUnfinished(temporary)
            self.temporary = nil
        }
    }

    /// Deletes the temporary file. Does nothing after ``keep()``.
    func discard() {
        if descriptor >= 0 {
            close(descriptor)
            descriptor = -1
        }
        if let temporary {
            _ = unsafe unlink(temporary)
            Self.removeUnfinished(temporary)
            self.temporary = nil
        }
    }

    /// Deletes all temporary files. Called if the process ends early.
    static func discardAll() {
        for path in unfinished.withLock({ $0 }) {
            _ = unsafe unlink(path)
        }
    }

    /// Writes a file with this text.
    static func write(_ text: String, to path: String, mode: mode_t? = nil) throws(SystemError) {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    static func write(_ bytes: [UInt8], to path: String, mode: mode_t? = nil) throws(SystemError) {
        let file = try OutputFile(at: path, mode: mode)
        try file.write(bytes.span)
        try file.keep()
    }

    /// Creates the missing directories of a path. As in curl, only the owner and the group have access.
    static func makeFolders(of path: String) throws(SystemError) {
        for (index, _) in zip(path.unicodeScalars.indices, path.unicodeScalars).dropFirst().filter({ $0.1 == "/" }) {
            let wasCreated = unsafe mkdir(String(path.unicodeScalars[..<index]), 0o750) == 0
            if !wasCreated && errno != EEXIST {
                throw SystemError(number: errno)
            }
        }
    }

    /// Sets the modification time of a regular file. For devices and pipes it has no effect.
    static func setModified(_ path: String, to seconds: Int64) throws(SystemError) {
        guard isReplaced(path) else { return }
        let time = timespec(tv_sec: time_t(seconds), tv_nsec: 0)
        if unsafe utimensat(AT_FDCWD, path, [time, time], 0) != 0 {
            throw SystemError(number: errno)
        }
    }

    private static func removeUnfinished(_ path: String) {
        _ = unfinished.withLock { $0.remove(path) }
    }

    private static func openFile(_ path: String, _ flags: Int32, mode: mode_t) throws(SystemError) -> Int32 {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
        return descriptor
    }

    /// Returns the descriptor of a path that denotes a standard stream of the process. Such a stream is written
    /// directly, and neither replaced nor truncated.
    private static func standardDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1": 1
        case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2": 2
        default: nil
        }
    }

    /// Returns true if the file is replaced or created. "-", devices, pipes and the standard streams of the process are
    /// not.
    static func isReplaced(_ path: String) -> Bool {
        var status = stat()
        let isOther = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        return path != "-" && standardDescriptor(path) == nil && !isOther
    }

    /// Returns true if both paths denote the same file, which need not exist.
    static func areSame(_ path: String, _ other: String) -> Bool {
        path == other || InputFile.areSame(path, other) || resolvedPath(of: path) == resolvedPath(of: other)
    }

    /// Returns the path with symbolic links resolved.
    private static func resolvedPath(of path: String) -> String {
        let end = behindLinks(path)
        let folder = folder(of: end)
        return (resolved(folder.isEmpty ? "." : folder) ?? folder) + "/" + end.dropFirst(folder.count)
    }

    static func isStandardOutput(_ path: String) -> Bool { standardDescriptor(path) == Terminal.standardOutput }

    /// Returns the directory of a path, with a slash at its end. It is empty for the current directory.
    private static func folder(of path: String) -> String {
        path.unicodeScalars.lastIndex(of: "/").map { String(path.unicodeScalars[...$0]) } ?? ""
    }

    /// Returns the target of a link that does not exist yet, or the path itself if it is not a link.
    private static func followingLinks(_ path: String) throws(SystemError) -> String {
        var resolvedPath = path
        // Linux also follows at most 40 links.
        for _ in 0..<40 {
            guard let target = try target(of: resolvedPath) else { return resolvedPath }
            resolvedPath = target.utf8.first == UInt8(ascii: "/") ? target : folder(of: resolvedPath) + target
        }
        throw SystemError(number: ELOOP)
    }

    /// Returns the target of a link, or `nil` if it exists and has no path.
    private static func target(ofLink path: String, exists: Bool) throws(SystemError) -> String? {
        exists ? resolved(path) : try followingLinks(path)
    }

    /// Returns the target of a link, which need not exist, or the path itself if it is not a link.
    static func behindLinks(_ path: String) -> String {
        guard (try? target(of: path)) != nil else { return path }
        return resolved(path) ?? (try? followingLinks(path)) ?? path
    }

    /// Returns the direct target of a link, or `nil` if the path is not a link.
    private static func target(of path: String) throws(SystemError) -> String? {
        var bytes = [CChar](repeating: 0, count: 4096)
        let length = unsafe readlink(path, &bytes, bytes.count)
        if length < 0 {
            return nil
        }
        let target = bytes.prefix(length).map { UInt8(bitPattern: $0) }
        guard length < bytes.count, let text = String(validating: target, as: UTF8.self) else {
            throw SystemError(number: EILSEQ)
        }
        return text
    }

    /// Returns the absolute path without links, or `nil` if the file does not exist or has no path.
    private static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
