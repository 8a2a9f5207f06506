#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension NetError {
    /// What the system refused to do with a file, and why: where the process has run out of descriptors or memory, that
    /// is not the file's fault.
    ///
    /// - Parameters:
    ///   - code: `errno`, which comes first: making the text may change it.
    ///   - what: what could not be done, with the file's name.
    init(system code: Int32, _ what: String) {
        let isFull = code == EMFILE || code == ENFILE
        let reason: Code = isFull ? .descriptors : code == ENOMEM ? .noMemory : .file
        self.init(reason, "\(what): \(unsafe String(cString: strerror(code)))", nativeCode: Int(code))
    }
}
