#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension NetrcChoice {
    /// The file's path, if it is known without the system's list of users; otherwise, and without a file, `nil`.
    var knownPath: String? {
        switch self {
        case .off: return nil
        case .home:
            guard let home = unsafe getenv("HOME") else { return nil }
            return unsafe String(cString: home) + "/.netrc"
        case .file(let path): return path
        }
    }
}
