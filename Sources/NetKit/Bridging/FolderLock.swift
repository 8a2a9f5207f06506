#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Holds a folder for one owner, among all processes and in this one, until it is let go or its process ends, however
/// that ends. No file is left behind by it.
final class FolderLock: Sendable {
    private let descriptor: Int32

    /// Throws ``NetError/Code/file``, at once, when somebody else holds it, or it cannot be opened.
    init(_ path: String) throws(NetError) {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw NetError(system: errno, "'\(path)' cannot be opened")
        }
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let code = errno
            close(descriptor)
            let what = code == EWOULDBLOCK ? "is used by another queue" : "cannot be locked"
            throw NetError(system: code, "'\(path)' \(what)")
        }
    }

    deinit {
        // A child that was forked meanwhile holds it too until it calls exec().
        _ = flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
