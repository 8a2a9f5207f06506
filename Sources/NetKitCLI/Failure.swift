import NetKit

/// Why a URL failed: an exit code, and a line that says it.
struct Failure: Error {
    let exitCode: Int32
    /// Nil: a reader that left needs no explanation.
    let message: String?

    init(_ exitCode: Int32, _ message: String?) {
        self.exitCode = exitCode
        self.message = message
    }

    /// What nk's own source of a body has failed of says more than that it has failed.
    init(_ error: NetError) {
        self = error.underlying as? Failure ?? Failure(ExitCode.of(error), error.message)
    }

    /// Of a download, whose file is written.
    init(saving error: NetError) {
        let isFile = error.code == .file || error.code == .descriptors
        self = isFile ? Failure(ExitCode.write, error.message) : Failure(error)
    }

    /// - Parameter path: nil is standard output, which has names as well.
    init(writing error: SystemError, to path: String?) {
        let path = path.flatMap { OutputFile.isStandardOutput($0) ? nil : $0 }
        let place = path.map(Self.place) ?? "standard output"
        self.init(
            ExitCode.write, path == nil && error.isBrokenPipe ? nil : "cannot write to \(place): \(error.message)")
    }

    init(reading error: SystemError, from path: String) {
        self.init(ExitCode.read, "cannot read \(path == "-" ? "standard input" : Self.place(path)): \(error.message)")
    }

    /// An empty name would leave a hole in the line.
    private static func place(_ path: String) -> String { path.isEmpty ? "''" : path }
}
