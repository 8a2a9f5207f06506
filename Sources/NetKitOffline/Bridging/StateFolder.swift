#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import CNetCore
internal import NetKit

/// An open directory with state files of NetKit. Files that another user could have written are refused, by the rules
/// in `netcore/state_file.h`.
final class StateFolder: Sendable {
    /// The size of the largest file that is read.
    static let maximumBytes = 1 << 30

    private let path: String
    private let descriptor: Int32
    /// Whether other users can create files in the directory, as in /tmp.
    private let isShared: Bool

    /// Opens the directory. Throws `NetError.Code.file` if that fails, or if the owner or the permissions of the
    /// directory break the rules.
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
        // close() alone may not unlock the directory, because a forked child process shares the lock until it calls
        // exec().
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Locks the directory exclusively, against other processes and against other objects in this process. The lock
    /// ends when this object is deallocated or the process ends, even by a crash. There is no lock file.
    ///
    /// - Throws: `NetError.Code.file` if the directory is locked already. It does not wait for the lock.
    func lock() throws(NetError) {
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            let problem = code == EWOULDBLOCK ? "is used by another queue" : "cannot be locked"
            throw NetError(system: code, "'\(path)' \(problem)")
        }
    }

    /// Throws `NetError.Code.file` if there is no file with this name, or if another user could have written it.
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
