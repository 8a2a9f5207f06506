#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A file that is to be sent.
enum InputFile {
    /// Its length; nil when it is no regular file, so that only reading tells.
    static func length(of path: String) throws(SystemError) -> Int? {
        if path == "-" {
            return nil
        }
        var status = stat()
        let isReadable = unsafe stat(path, &status) == 0 && access(path, R_OK) == 0
        if !isReadable {
            throw SystemError(number: errno)
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw SystemError(number: EISDIR)
        }
        return status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    static func exists(_ path: String) -> Bool {
        unsafe access(path, F_OK) == 0
    }
}
