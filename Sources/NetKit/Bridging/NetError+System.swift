#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension NetError {
    /// What the system refused to do with a file, and why.
    ///
    /// - Parameters:
    ///   - code: `errno`, which comes first: making the text may change it.
    ///   - what: what could not be done, with the file's name.
    init(system code: Int32, _ what: String) {
        self.init(.file, "\(what): \(unsafe String(cString: strerror(code)))", nativeCode: Int(code))
    }
}
