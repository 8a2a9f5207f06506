#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is whole or absent: it is written beside its place and renamed into it.
enum OutputFile {
    /// Writes the pieces one after the other. Devices and pipes are written where they are.
    static func write(_ pieces: [OutputPiece], to path: String) throws(SystemError) {
        var status = stat()
        let isThere = unsafe stat(path, &status) == 0
        if isThere && status.st_mode & S_IFMT != S_IFREG {
            let descriptor = try opened(path, O_WRONLY, mode: 0)
            try fill(descriptor, with: pieces)
            return
        }
        // A link stays a link: what it points to is replaced.
        let place = isThere ? resolved(path) : path
        let mayWrite = unsafe !isThere || access(place, W_OK) == 0
        if !mayWrite {
            throw SystemError(number: errno)
        }
        // In the same folder, so that the rename stays within one file system; short, so that any name leaves room.
        let folder = place.lastIndex(of: "/").map { place[...$0] } ?? ""
        let temporary = "\(folder).nk-\(getpid())-\(UInt32.random(in: 0 ... .max)).part"
        let descriptor = try opened(temporary, O_WRONLY | O_CREAT | O_EXCL, mode: 0o666)
        do throws(SystemError) {
            if isThere {
                fchmod(descriptor, status.st_mode & 0o7777)
            }
            try fill(descriptor, with: pieces)
            if unsafe rename(temporary, place) != 0 {
                throw SystemError(number: errno)
            }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    private static func opened(_ path: String, _ flags: Int32, mode: mode_t) throws(SystemError) -> Int32 {
        let descriptor = unsafe open(path, flags | O_CLOEXEC, mode)
        if descriptor < 0 {
            throw SystemError(number: errno)
        }
        return descriptor
    }

    /// Writes and closes. A full disk may show as late as that.
    private static func fill(_ descriptor: Int32, with pieces: [OutputPiece]) throws(SystemError) {
        do throws(SystemError) {
            for piece in pieces {
                try piece.write(to: descriptor)
            }
        } catch {
            close(descriptor)
            throw error
        }
        if close(descriptor) != 0 {
            throw SystemError(number: errno)
        }
    }

    private static func resolved(_ path: String) -> String {
        guard let real = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }
}
