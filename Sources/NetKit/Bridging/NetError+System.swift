#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension NetError {
    /// Creates the error of a failed file operation. An exhausted descriptor or memory limit of the process is not a
    /// fault of the file and has its own code.
    ///
    /// - Parameters:
    ///   - code: `errno`, the first parameter: making the text may change it.
    ///   - what: the failed operation, with the file's name.
    init(system code: Int32, _ what: String) {
        let isFull = code == EMFILE || code == ENFILE
        let reason: Code = isFull ? .descriptors : code == ENOMEM ? .noMemory : .file
        self.init(reason, "\(what): \(unsafe String(cString: strerror(code)))", nativeCode: Int(code))
    }
}
