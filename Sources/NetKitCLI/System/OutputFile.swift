#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// A file that is whole or absent: it is written beside its place and renamed into it. Devices and pipes are written
/// where they are.
final class OutputFile {
    private static let unfinished = Lock<Set<String>>([])

    private var descriptor: Int32
    private let place: String
    /// Nil when it is written in place.
    private var temporary: String?

    /// - Parameter mode: the permissions of a new file; nil takes the usual ones, or those of the file that is replaced.
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
        // A link stays a link: what it points to is replaced, or made. What no name leads to any more is written where
        // it is.
        guard let place = isThere ? Self.resolved(path) : try Self.followed(path) else {
            descriptor = try Self.opened(path, O_WRONLY | O_TRUNC, mode: 0)
            self.place = path
            return
        }
        let mayWrite = unsafe !isThere || access(place, W_OK) == 0
        if !mayWrite {
            throw SystemError(number: errno)
        }
        // In the same folder, so that the rename stays within one file system; short, so that any name leaves room.
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

    /// Those of what is replaced; the owner before the mode, of which changing him takes bits away, and only where the
    /// system lets us: without him, set-user-ID would speak of somebody else.
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

    /// Puts the file in its place. A full disk may show as late as this.
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

    /// Leaves its place as it was; harmless after ``keep()``.
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

    /// What a process does that ends at once.
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

    /// Makes the folders that a path names, as far as they are not there; for their owner and the group, as curl does.
    static func makeFolders(of path: String) throws(SystemError) {
        for (place, _) in zip(path.unicodeScalars.indices, path.unicodeScalars).dropFirst().filter({ $0.1 == "/" }) {
            let isMade = unsafe mkdir(String(path.unicodeScalars[..<place]), 0o750) == 0
            if !isMade && errno != EEXIST {
                throw SystemError(number: errno)
            }
        }
    }

    /// Gives a file that has been written the time that a server says; of devices and pipes it is not theirs.
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

    /// The names of a process's own output: what is behind them is written on, and neither replaced nor emptied.
    private static func standardDescriptor(_ path: String) -> Int32? {
        switch path {
        case "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1": 1
        case "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2": 2
        default: nil
        }
    }

    /// Whether a file appears there anew: "-", devices, pipes and the process's own output are written on.
    static func isReplaced(_ path: String) -> Bool {
        var status = stat()
        let isOther = unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
        return path != "-" && standardDescriptor(path) == nil && !isOther
    }

    /// Whether what is written to both lands in one file, which need not be there yet.
    static func areOne(_ path: String, _ other: String) -> Bool {
        path == other || InputFile.areOne(path, other) || place(of: path) == place(of: other)
    }

    /// Behind links, by the one path of its folder.
    private static func place(of path: String) -> String {
        let end = behindLinks(path)
        let folder = folder(of: end)
        return (resolved(folder.isEmpty ? "." : folder) ?? folder) + "/" + end.dropFirst(folder.count)
    }

    static func isStandardOutput(_ path: String) -> Bool { standardDescriptor(path) == Terminal.standardOutput }

    /// With the slash at its end; empty is the current one.
    private static func folder(of path: String) -> String {
        path.unicodeScalars.lastIndex(of: "/").map { String(path.unicodeScalars[...$0]) } ?? ""
    }

    /// Where a link leads to what is yet to be made; the path itself where there is no link.
    private static func followed(_ path: String) throws(SystemError) -> String {
        var place = path
        // As many as Linux follows.
        for _ in 0..<40 {
            guard let target = try target(of: place) else { return place }
            place = target.utf8.first == UInt8(ascii: "/") ? target : folder(of: place) + target
        }
        throw SystemError(number: ELOOP)
    }

    /// What a link leads to, or would; the path itself where it is none.
    static func behindLinks(_ path: String) -> String {
        guard (try? target(of: path)) != nil else { return path }
        return resolved(path) ?? (try? followed(path)) ?? path
    }

    /// Nil of what is no link.
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

    /// Nil where a link leads to nothing that has a name.
    private static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
