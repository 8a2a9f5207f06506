import NetKit

/// The failure of a URL: an exit code and a message.
struct Failure: Error {
    let exitCode: Int32
    /// The message. `nil` if the reader of a pipe has closed it, which needs no message.
    let message: String?

    init(_ exitCode: Int32, _ message: String?) {
        self.exitCode = exitCode
        self.message = message
    }

    /// Creates the failure for an error of the library. If a body source of nk has thrown a failure itself, that one is
    /// used, because it is more specific.
    init(_ error: NetError) {
        self = error.underlying as? Failure ?? Failure(ExitCode.of(error), error.message)
    }

    /// Creates the failure of a download. File errors are errors of writing, because a download writes its file.
    init(saving error: NetError) {
        let isFile = error.code == .file || error.code == .descriptors
        let isExisting = isFile && SystemError(number: Int32(clamping: error.nativeCode)).isExistingFile
        let advice = isExisting ? "; use --clobber to overwrite it" : ""
        self = isFile ? Failure(ExitCode.write, error.message + advice) : Failure(error)
    }

    /// Creates the failure for an error of writing.
    ///
    /// - Parameter path: the path of the file. `nil` stands for standard output.
    init(writing error: SystemError, to path: String?) {
        let path = path.flatMap { OutputFile.isStandardOutput($0) ? nil : $0 }
        let name = path.map(Self.name) ?? "standard output"
        self.init(
            ExitCode.write, path == nil && error.isBrokenPipe ? nil : "cannot write to \(name): \(error.message)")
    }

    init(reading error: SystemError, from path: String) {
        self.init(ExitCode.read, "cannot read \(path == "-" ? "standard input" : Self.name(path)): \(error.message)")
    }

    /// Returns the path for a message. An empty path is quoted, because it would be invisible.
    private static func name(_ path: String) -> String { path.isEmpty ? "''" : path }
}
