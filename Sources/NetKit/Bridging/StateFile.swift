#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
internal import CNetCore

/// Reads a single state file, and refuses a file that another user could have written, by the rules in
/// `netcore/state_file.h`.
package enum StateFile {
    /// Returns the contents of a file, or `nil` if it is missing. Waits for the disk.
    ///
    /// - Throws: ``NetError/Code/tooLarge`` for a larger file. ``NetError/Code/file`` if the file cannot be read, if
    ///   another user could have written it, or if other users can create files in its directory.
    package static func contents(of path: String, maximumBytes: Int) throws(NetError) -> [UInt8]? {
        if path.utf8.contains(0) {
            throw NetError(.usage, "the path of a file contains a NUL byte")
        }
        var file: Int32 = -1
        var error = nc_error()
        guard unsafe nc_state_file_open_at(&file, path, nil, &error) == .NC_OK else { throw NetError(error) }
        return file < 0 ? nil : try contents(of: file, path, maximumBytes: maximumBytes)
    }

    /// Reads an open regular file and closes it.
    package static func contents(
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
    /// Whether the error means that a state file is not trusted: another user owns it or can write to it, it is a
    /// symbolic link, or it has more than one hard link.
    package var isDistrust: Bool {
        code == .file && [Int(EPERM), Int(ELOOP), Int(EMLINK)].contains(nativeCode)
    }
}
