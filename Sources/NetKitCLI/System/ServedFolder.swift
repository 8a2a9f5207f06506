#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import NetKit

/// An open file that is served. It is closed when the object is deallocated, unless the descriptor was passed to the C
/// server.
final class ServedFile {
    let length: Int
    /// The modification time in whole seconds since 1970.
    let modified: Int64
    /// Identifies a version of the file. It consists of the inode, the times and the length.
    let tag: String
    let descriptor: Int32
    private var ownsDescriptor = true

    fileprivate init(_ descriptor: Int32, _ status: stat) {
        self.descriptor = descriptor
        length = Int(status.st_size)
        #if canImport(Glibc)
        let (modificationTime, statusChangeTime) = (status.st_mtim, status.st_ctim)
        #else
        let (modificationTime, statusChangeTime) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        modified = Int64(modificationTime.tv_sec)
        // Seconds and nanoseconds are written separately. As nanoseconds in 64 bits, times after the year 2262 would
        // overflow, but a file may have any time.
        let times = [modificationTime, statusChangeTime].flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
        tag = ([Int64(bitPattern: UInt64(status.st_ino))] + times + [Int64(status.st_size)])
            .map { String($0, radix: 36) }.joined(separator: ".")
    }

    deinit {
        if ownsDescriptor {
            close(descriptor)
        }
    }

    /// Gives up the ownership of the descriptor. The C server that received it closes it.
    func releaseDescriptor() {
        ownsDescriptor = false
    }
}

/// A served directory. Files outside the directory cannot be opened, not even by links in it.
struct ServedFolder: Sendable {
    enum Entry {
        case file(ServedFile)
        case folder
        case nothing
        /// The file exists but is not readable.
        case forbidden
    }

    /// The path without links and without a trailing slash. It is empty for the root directory.
    private let resolvedPath: String

    init(_ path: String) throws(SystemError) {
        guard let realPath = unsafe realpath(path, nil) else { throw SystemError(number: errno) }
        defer { unsafe free(realPath) }
        let resolvedPath = unsafe String(cString: realPath)
        var status = stat()
        guard unsafe stat(resolvedPath, &status) == 0 else { throw SystemError(number: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(number: ENOTDIR) }
        guard unsafe access(resolvedPath, R_OK | X_OK) == 0 else { throw SystemError(number: errno) }
        self.resolvedPath = resolvedPath == "/" ? "" : resolvedPath
    }

    /// Returns the entry at a path in the directory.
    ///
    /// - Parameter segments: the names in the path. No name may be "", "." or "..", or contain a slash.
    func entry(_ segments: [String]) -> Entry {
        let path = resolvedPath + "/" + segments.joined(separator: "/")
        // The real path is read from the open descriptor, because a link could be changed between a check of the path
        // and its opening. O_PATH is used because it has no effect on a pipe or a device.
        #if canImport(Glibc)
        let pathDescriptor = unsafe open(path, pathOnly | O_CLOEXEC)
        #else
        let pathDescriptor = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        #endif
        guard pathDescriptor >= 0 else { return errno == EACCES ? .forbidden : .nothing }
        defer { close(pathDescriptor) }
        var status = stat()
        guard let realPath = Self.resolvedPath(of: pathDescriptor), contains(realPath),
            unsafe fstat(pathDescriptor, &status) == 0
        else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG:
            #if canImport(Glibc)
            let file = unsafe open("/proc/self/fd/\(pathDescriptor)", O_RDONLY | O_CLOEXEC)
            #else
            let file = fcntl(pathDescriptor, F_DUPFD_CLOEXEC, 0)
            #endif
            guard file >= 0 else { return .forbidden }
            return .file(ServedFile(file, status))
        default: return .nothing
        }
    }

    /// Returns true if the directory contains a path. Bytes are compared, because names that are canonically equivalent
    /// in Unicode are different names in the file system.
    private func contains(_ realPath: String) -> Bool {
        let (realPath, resolvedPath) = (realPath.utf8, resolvedPath.utf8)
        return realPath.starts(with: resolvedPath)
            && (realPath.count == resolvedPath.count || realPath.dropFirst(resolvedPath.count).first == 0x2F)
    }

    /// Returns the sorted names in a directory. Names of directories have a trailing slash. Returns `nil` if the
    /// directory cannot be read.
    func names(in segments: [String]) -> [String]? {
        guard case .folder = entry(segments),
            let folder = unsafe opendir(resolvedPath + "/" + segments.joined(separator: "/"))
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

    private static func resolvedPath(of descriptor: Int32) -> String? {
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
