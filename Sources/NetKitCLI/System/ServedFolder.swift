#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// An open file that is served. It is closed with its last reference, unless it was passed on.
final class ServedFile {
    let length: Int
    /// The modification time in whole seconds since 1970.
    let modified: Int64
    /// Identifies a state of the file: its inode, times and length.
    let tag: String
    let descriptor: Int32
    private var isOurs = true

    fileprivate init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        length = Int(status.st_size)
        #if canImport(Glibc)
        let (written, changed) = (status.st_mtim, status.st_ctim)
        #else
        let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        modified = Int64(written.tv_sec)
        // Seconds and nanoseconds separately: 64 bits of nanoseconds end in the year 2262, but a file may have any
        // time.
        let times = [written, changed].flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
        tag = ([Int64(bitPattern: UInt64(status.st_ino))] + times + [Int64(status.st_size)])
            .map { String($0, radix: 36) }.joined(separator: ".")
    }

    deinit {
        if isOurs {
            close(descriptor)
        }
    }

    /// Passes the descriptor to the receiver, which closes it.
    func giveAway() {
        isOurs = false
    }
}

/// A served directory. No file outside it can be opened, by any path or link.
struct ServedFolder: Sendable {
    enum Entry {
        case file(ServedFile)
        case folder
        case nothing
        /// The file exists but is not readable.
        case forbidden
    }

    /// The path without links and without a trailing slash ("" is the root).
    private let place: String

    init(_ path: String) throws(SystemError) {
        guard let real = unsafe realpath(path, nil) else { throw SystemError(number: errno) }
        defer { unsafe free(real) }
        let place = unsafe String(cString: real)
        var status = stat()
        guard unsafe stat(place, &status) == 0 else { throw SystemError(number: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(number: ENOTDIR) }
        guard unsafe access(place, R_OK | X_OK) == 0 else { throw SystemError(number: errno) }
        self.place = place == "/" ? "" : place
    }

    /// - Parameter segments: names. None is "", "." or "..", or contains a slash.
    func entry(_ segments: [String]) -> Entry {
        let path = place + "/" + segments.joined(separator: "/")
        // The real path must be read from the open descriptor: a link could change between a check and the opening.
        // With O_PATH, opening has no effect on a pipe or a device.
        #if canImport(Glibc)
        let found = unsafe open(path, pathOnly | O_CLOEXEC)
        #else
        let found = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #endif
        guard found >= 0 else { return errno == EACCES ? .forbidden : .nothing }
        defer { close(found) }
        var status = stat()
        guard let real = Self.place(of: found), contains(real), unsafe fstat(found, &status) == 0
        else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG:
            #if canImport(Glibc)
            let file = unsafe open("/proc/self/fd/\(found)", O_RDONLY | O_CLOEXEC)
            #else
            let file = fcntl(found, F_DUPFD_CLOEXEC, 0)
            #endif
            guard file >= 0 else { return .forbidden }
            return .file(ServedFile(file, status))
        default: return .nothing
        }
    }

    /// Compares bytes: names that are equal in Unicode are different directories.
    private func contains(_ real: String) -> Bool {
        let (real, place) = (real.utf8, place.utf8)
        return real.starts(with: place) && (real.count == place.count || real.dropFirst(place.count).first == 0x2F)
    }

    /// Returns the sorted names in a directory, those of directories with a trailing slash. `nil` if it is not
    /// readable.
    func names(in segments: [String]) -> [String]? {
        guard case .folder = entry(segments), let folder = unsafe opendir(place + "/" + segments.joined(separator: "/"))
        else { return nil }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let next = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: next.pointee.d_name) { bytes in
                unsafe String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard let name, name != ".", name != ".." else { continue }
            switch entry(segments + [name]) {
            case .folder: names.append(name + "/")
            case .file: names.append(name)
            case .nothing, .forbidden: break
            }
        }
        return names.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    private static func place(of descriptor: Int32) -> String? {
        #if canImport(Glibc)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let length = unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let first = buffer.baseAddress else { return -1 }
            return unsafe readlink(
                "/proc/self/fd/\(descriptor)", first.assumingMemoryBound(to: CChar.self), buffer.count)
        }
        return length > 0 && length < bytes.count ? String(decoding: bytes.prefix(length), as: UTF8.self) : nil
        #else
        var bytes = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        return unsafe fcntl(descriptor, F_GETPATH, &bytes) == 0 ? String(cString: bytes) : nil
        #endif
    }
}

#if canImport(Glibc)
/// O_PATH, which <fcntl.h> defines only with _GNU_SOURCE. It has the same value on every Linux that Swift supports.
private let pathOnly: Int32 = 0o10_000_000
#endif
