#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// A file that is written atomically: it is written under a temporary name and renamed. Devices and pipes are written
/// in place.
final class OutputFile {
    private static let unfinished = Lock<Set<String>>([])

    private var descriptor: Int32
    private let place: String
    /// The temporary path, or `nil` if the file is written in place.
    private var temporary: String?

    /// - Parameter mode: the permissions of a new file. If `nil`, the default ones, or those of the replaced file.
    init(at path: String, mode: mode_t? = nil) throws(SystemError) {
        if let number = Self.standardDescriptor(path) {
            descriptor = fcntl(number, F_DUPFD_CLOEXEC, 3)
            place = path
            if descriptor < 0 {
                throw SystemError(number: errno)
            }
            return
        }
        var status = stat()
        let isThere = unsafe stat(path, &status) == 0
        if !isThere && errno != ENOENT {
            throw SystemError(number: errno)
        }
        if isThere && status.st_mode & S_IFMT != S_IFREG {
            descriptor = try Self.opened(path, O_WRONLY, mode: 0)
            place = path
            return
        }
        // A symbolic link is kept; its target is replaced or created. A file without a path, such as a deleted one, is
        // written in place.
        guard let place = isThere ? Self.resolved(path) : try Self.followed(path) else {
            descriptor = try Self.opened(path, O_WRONLY | O_TRUNC, mode: 0)
            self.place = path
            return
        }
        let mayWrite = unsafe !isThere || access(place, W_OK) == 0
        if !mayWrite {
            throw SystemError(number: errno)
        }
        // In the same directory, so that the rename stays within one file system. The name is short, so it fits beside
        // any other.
        let temporary = "\(Self.folder(of: place)).nk-\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
        descriptor = try Self.opened(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: mode ?? 0o666)
        self.place = place
        self.temporary = temporary
        _ = Self.unfinished.withLock { $0.insert(temporary) }
        if isThere, mode == nil {
            keepRights(status)
        }
    }

    deinit {
        discard()
    }

    /// Copies the owner and permissions of the replaced file. The owner comes first, because chown clears permission
    /// bits. If the owner cannot be kept, set-user-ID is dropped: it would apply to another user.
    private func keepRights(_ old: stat) {
        let isOwned = fchown(descriptor, old.st_uid, old.st_gid) == 0
        if !isOwned {
            fchown(descriptor, uid_t.max, old.st_gid)
        }
        fchmod(descriptor, old.st_mode & (isOwned ? 0o7777 : 0o777))
    }

    func write(_ bytes: Span<UInt8>) throws(SystemError) {
        try Terminal.write(bytes, to: descriptor)
    }

    /// Renames the file to its path. A full disk may be reported only here.
    func keep() throws(SystemError) {
        let isClosed = close(descriptor) == 0
        descriptor = -1
        if !isClosed {
            throw SystemError(number: errno)
        }
        if let temporary {
            if unsafe rename(temporary, place) != 0 {
                throw SystemError(number: errno)
            }
            Self.forget(temporary)
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
            Self.forget(temporary)
            self.temporary = nil
        }
    }

    /// Deletes all temporary files before the process ends early.
    static func discardAll() {
        for path in unfinished.withLock({ $0 }) {
            _ = unsafe unlink(path)
        }
    }

    /// Writes a whole file.
    static func write(_ text: String, to path: String, mode: mode_t? = nil) throws(SystemError) {
        try write(Array(text.utf8), to: path, mode: mode)
    }

    static func write(_ bytes: [UInt8], to path: String, mode: mode_t? = nil) throws(SystemError) {
        let file = try OutputFile(at: path, mode: mode)
        try file.write(bytes.span)
        try file.keep()
    }

    /// Creates the missing directories of a path, for the owner and the group as curl does.
    static func makeFolders(of path: String) throws(SystemError) {
        for (place, _) in zip(path.unicodeScalars.indices, path.unicodeScalars).dropFirst().filter({ $0.1 == "/" }) {
            let isMade = unsafe mkdir(String(path.unicodeScalars[..<place]), 0o750) == 0
            if !isMade && errno != EEXIST {
                throw SystemError(number: errno)
            }
        }
    }

    /// Sets the modification time of a regular file to the server's. Devices and pipes are unchanged.
    static func setModified(_ path: String, to seconds: Int64) throws(SystemError) {
        guard isReplaced(path) else { return }
        let time = timespec(tv_sec: time_t(seconds), tv_nsec: 0)
        if unsafe utimensat(AT_FDCWD, path, [time, time], 0) != 0 {
            throw SystemError(number: errno)
        }
    }

    private static func forget(_ path: String) {
        _ = unfinished.withLock { $0.remove(path) }
    }

    private static func opened(_ path: String, _ flags: Int32, mode: mode_t) throws(SystemError) -> Int32 {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
        return descriptor
    }

    /// The names of the process's standard streams. They are appended to, and neither replaced nor truncated.
    private static func standardDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1": 1
        case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2": 2
        default: nil
        }
    }

    /// Whether the file is replaced. "-", devices, pipes and the process's own output are not.
    static func isReplaced(_ path: String) -> Bool {
        var status = stat()
        let isOther = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        return path != "-" && standardDescriptor(path) == nil && !isOther
    }

    /// Whether both paths denote one file, which need not exist.
    static func areOne(_ path: String, _ other: String) -> Bool {
        path == other || InputFile.areOne(path, other) || place(of: path) == place(of: other)
    }

    /// The path with symbolic links resolved.
    private static func place(of path: String) -> String {
        let end = behindLinks(path)
        let folder = folder(of: end)
        return (resolved(folder.isEmpty ? "." : folder) ?? folder) + "/" + end.dropFirst(folder.count)
    }

    static func isStandardOutput(_ path: String) -> Bool { standardDescriptor(path) == Terminal.standardOutput }

    /// The directory with a slash at its end; empty for the current one.
    private static func folder(of path: String) -> String {
        path.unicodeScalars.lastIndex(of: "/").map { String(path.unicodeScalars[...$0]) } ?? ""
    }

    /// The target of a dangling link, or the path itself if it is not a link.
    private static func followed(_ path: String) throws(SystemError) -> String {
        var place = path
        // Linux follows at most 40 links.
        for _ in 0..<40 {
            guard let target = try target(of: place) else { return place }
            place = target.utf8.first == UInt8(ascii: "/") ? target : folder(of: place) + target
        }
        throw SystemError(number: ELOOP)
    }

    /// The existing or future target of a link, or the path itself if it is not a link.
    static func behindLinks(_ path: String) -> String {
        guard (try? target(of: path)) != nil else { return path }
        return resolved(path) ?? (try? followed(path)) ?? path
    }

    /// Returns `nil` if it is not a link.
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

    /// Returns `nil` if the target has no path.
    private static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
