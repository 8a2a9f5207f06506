#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import CNetCore

/// An open directory of the library's own state. No other user can have placed a file in it, and every opened file
/// belongs to this user: the core has the rule (`netcore/state_file.h`).
final class StateFolder: Sendable {
    /// The largest file that is read.
    static let maximumBytes = 1 << 30

    private let path: String
    private let descriptor: Int32
    /// Whether others can create names in it, as in /tmp.
    private let isShared: Bool

    /// Throws ``NetError/Code/file`` if it cannot be opened, or if other users can write to it or own it.
    init(_ path: String) throws(NetError) {
        self.path = path
        var error = nc_error()
        let (status, descriptor, isShared) = unsafe path.withCString { path in
            var folder = unsafe nc_state_folder(fd: -1, path: path, files: nc_file_ops_system(), is_shared: true)
            let status = unsafe nc_state_folder_open(&folder, path, nil, &error)
            return unsafe (status, folder.fd, folder.is_shared)
        }
        self.descriptor = descriptor
        self.isShared = isShared
        if status != .NC_OK {
            throw NetError(error)
        }
    }

    deinit {
        guard descriptor >= 0 else { return }
        // A child process that was forked meanwhile holds it too until it calls exec().
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Locks the directory for one owner, among all processes and within this one. The lock ends with this object or
    /// its process, after any kind of exit, and leaves no file.
    ///
    /// - Throws: ``NetError/Code/file``, immediately, if another owner has the lock.
    func lock() throws(NetError) {
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            let what = code == EWOULDBLOCK ? "is used by another queue" : "cannot be locked"
            throw NetError(system: code, "'\(path)' \(what)")
        }
    }

    /// Throws ``NetError/Code/file`` if there is no file with this name, or if another user could have written it.
    func check(_ name: String) throws(NetError) {
        close(try open(name))
    }

    /// Returns the contents of a file. Throws the same errors as ``check(_:)``.
    func contents(of name: String) throws(NetError) -> [UInt8] {
        try StateFile.contents(of: try open(name), "\(path)/\(name)", maximumBytes: Self.maximumBytes)
    }

    private func open(_ name: String) throws(NetError) -> Int32 {
        var file: Int32 = -1
        var error = nc_error()
        let status = unsafe path.withCString { path in
            var folder = unsafe nc_state_folder(
                fd: descriptor, path: path, files: nc_file_ops_system(), is_shared: isShared)
            return unsafe nc_state_file_open(&file, &folder, name, O_RDONLY, &error)
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        return file
    }
}

/// Single state files, with the same rule as those in a ``StateFolder``.
package enum StateFile {
    /// Returns the contents of a file, or `nil` if it is missing. Waits for the disk.
    ///
    /// - Throws: ``NetError/Code/tooLarge``, and ``NetError/Code/file`` if it cannot be read, or if another user could
    ///   have written it or can create names in its directory.
    package static func contents(of path: String, maximumBytes: Int) throws(NetError) -> [UInt8]? {
        if path.utf8.contains(0) {
            throw NetError(.usage, "the path of a file holds a NUL")
        }
        var file: Int32 = -1
        var error = nc_error()
        guard unsafe nc_state_file_open_at(&file, path, nil, &error) == .NC_OK else { throw NetError(error) }
        return file < 0 ? nil : try contents(of: file, path, maximumBytes: maximumBytes)
    }

    /// Reads an open regular file and closes it.
    fileprivate static func contents(
        of descriptor: Int32, _ path: String, maximumBytes: Int
    ) throws(NetError) -> [UInt8] {
        defer { close(descriptor) }
        var contents: [UInt8] = []
        while true {
            let piece = try next(of: descriptor, path)
            if piece.isEmpty {
                return contents
            }
            if piece.count > maximumBytes - contents.count {
                throw NetError(.tooLarge, "'\(path)' is larger than \(maximumBytes >> 20) MiB")
            }
            contents += piece
        }
    }

    private static func next(of descriptor: Int32, _ path: String) throws(NetError) -> [UInt8] {
        while true {
            var count = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, filled in
                count = unsafe read(descriptor, buffer.baseAddress, buffer.count)
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

extension NetError {
    /// Whether the file belongs to another user or is writable for one, or is a link or has a second name.
    package var isDistrust: Bool {
        code == .file && [Int(EPERM), Int(ELOOP), Int(EMLINK)].contains(nativeCode)
    }
}
