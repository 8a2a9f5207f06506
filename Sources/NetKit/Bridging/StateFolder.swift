#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import CNetCore

/// An open folder of the library's own state. No other user can have placed anything in it, nor can any file that it
/// opens be another user's: the core has the rule (`netcore/state_file.h`).
final class StateFolder: Sendable {
    /// The largest file that is read.
    static let maximumBytes = 1 << 30

    private let path: String
    private let descriptor: Int32
    /// Whether others can make names in it, as in /tmp.
    private let isShared: Bool

    /// Throws ``NetError/Code/file`` when it cannot be opened, or other users can write to it or own it.
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
        // A child that was forked meanwhile holds it too until it calls exec().
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Holds the folder for one owner, among all processes and in this one, until this object is released or its process
    /// ends, however that ends. No file is left behind by it.
    ///
    /// Throws ``NetError/Code/file``, immediately, when another owner holds it.
    func lock() throws(NetError) {
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            let what = code == EWOULDBLOCK ? "is used by another queue" : "cannot be locked"
            throw NetError(system: code, "'\(path)' \(what)")
        }
    }

    /// Throws ``NetError/Code/file`` when there is no file of this name, or another user could have written it.
    func check(_ name: String) throws(NetError) {
        close(try open(name))
    }

    /// What a file holds. Throws as ``check(_:)``.
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

/// Single files of state, for which the same rule holds as for those in a ``StateFolder``.
package enum StateFile {
    /// What a file holds; nil when it is missing. Waits for the disk.
    ///
    /// Throws ``NetError/Code/file`` when it cannot be read, or when another user could have written it or can make
    /// names in its folder, and ``NetError/Code/tooLarge``.
    package static func contents(of path: String, maximumBytes: Int) throws(NetError) -> [UInt8]? {
        if path.utf8.contains(0) {
            throw NetError(.usage, "the path of a file holds a NUL")
        }
        var file: Int32 = -1
        var error = nc_error()
        guard unsafe nc_state_file_open_at(&file, path, nil, &error) == .NC_OK else { throw NetError(error) }
        return file < 0 ? nil : try contents(of: file, path, maximumBytes: maximumBytes)
    }

    /// Reads a regular file that is open, and closes it.
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
    /// Whether another user owns a file or can write to it, or a link or a second name stands in its place.
    package var isDistrust: Bool {
        code == .file && [Int(EPERM), Int(ELOOP), Int(EMLINK)].contains(nativeCode)
    }
}
