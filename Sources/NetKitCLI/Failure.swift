import NetKit

/// The failure of a URL: an exit code and a message.
struct Failure: Error {
    let exitCode: Int32
    /// `nil` if the reader closed the pipe, which needs no message.
    let message: String?

    init(_ exitCode: Int32, _ message: String?) {
        self.exitCode = exitCode
        self.message = message
    }

    /// A failure of nk's own body source is more specific than the library's error.
    init(_ error: NetError) {
        self = error.underlying as? Failure ?? Failure(ExitCode.of(error), error.message)
    }

    /// Creates the failure of a download, whose file is written.
    init(saving error: NetError) {
        let isFile = error.code == .file || error.code == .descriptors
        self = isFile ? Failure(ExitCode.write, error.message) : Failure(error)
    }

    /// - Parameter path: the path; `nil` is standard output.
    init(writing error: SystemError, to path: String?) {
        let path = path.flatMap { OutputFile.isStandardOutput($0) ? nil : $0 }
        let place = path.map(Self.place) ?? "standard output"
        self.init(
            ExitCode.write, path == nil && error.isBrokenPipe ? nil : "cannot write to \(place): \(error.message)")
    }

    init(reading error: SystemError, from path: String) {
        self.init(ExitCode.read, "cannot read \(path == "-" ? "standard input" : Self.place(path)): \(error.message)")
    }

    /// An empty name would be invisible in the message.
    private static func place(_ path: String) -> String { path.isEmpty ? "''" : path }
}
